import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Committable, Committer } from "./committer.ts";
import type { CommitPoint, GroupSession } from "./group-session.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A partition that moves by hand, and a group that answers by hand. */
function createCommits() {
  const partition = {
    offset: 0,
    changed: true,
    commitPoint: (forced: boolean): CommitPoint | null => {
      asked += 1;
      if (!partition.changed && !forced) return null;
      partition.changed = false;
      return { topic: "t", partition: 0, offset: partition.offset, metadata: "" };
    },
    commitFailed: () => note(),
  };
  let asked = 0;
  const note = () => {
    partition.changed = true;
    committer.changed();
  };
  const sent: { readonly offset: number | undefined; answer(accepted: boolean): void }[] = [];
  const session: Pick<GroupSession, "commit"> = {
    commit: (points) =>
      new Promise((resolve) => {
        sent.push({
          offset: points[0]?.offset,
          answer: (accepted) => resolve(accepted ? null : new Error("refused")),
        });
      }),
  };
  const onCommitted = vi.fn();
  const onFailed = vi.fn();
  const owned: Committable[] = [partition];
  const committer = new Committer({
    session,
    owned: () => owned,
    intervalMs: 100,
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    onCommitted,
    onFailed,
  });
  const move = (offset: number) => {
    partition.offset = offset;
    note();
  };
  const answer = async (accepted: boolean) => {
    sent.at(-1)?.answer(accepted);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { committer, sent, move, answer, asked: () => asked, onCommitted, onFailed };
}

describe("a committer", () => {
  it("commits what changed, one commit outstanding at the most (K1)", async () => {
    const { committer, sent, move, answer, onCommitted } = createCommits();
    committer.start();
    await vi.advanceTimersByTimeAsync(100);
    move(5);
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent.map(({ offset }) => offset)).toEqual([0]);
    await answer(true);
    await vi.advanceTimersByTimeAsync(100);
    expect(sent.map(({ offset }) => offset)).toEqual([0, 5]);
    await answer(true);
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent.length).toBe(2);
    expect(onCommitted).toHaveBeenCalledTimes(2);
    committer.stop();
  });

  it("sends again what was not accepted, counting the refusals in a row (K2)", async () => {
    const { committer, sent, move, answer, onFailed } = createCommits();
    committer.start();
    for (const accepted of [false, false, true, false]) {
      move(0);
      await vi.advanceTimersByTimeAsync(100);
      await answer(accepted);
    }
    await vi.advanceTimersByTimeAsync(100);
    expect(sent.map(({ offset }) => offset)).toEqual([0, 0, 0, 0, 0]);
    expect(onFailed.mock.calls.map(([, failures]) => failures)).toEqual([1, 2, 1]);
    committer.stop();
  });

  it("commits what did not change every five seconds (K3, C6)", async () => {
    const { committer, sent, answer } = createCommits();
    committer.start();
    await vi.advanceTimersByTimeAsync(100);
    await answer(true);
    await vi.advanceTimersByTimeAsync(4999);
    expect(sent.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent.length).toBe(2);
    committer.stop();
  });

  it("commits an unchanged partition as often while another one changes (K3)", async () => {
    const { committer, sent, move, answer } = createCommits();
    committer.start();
    await vi.advanceTimersByTimeAsync(100);
    await answer(true);
    for (let second = 1; second <= 4; second += 1) {
      move(second);
      await vi.advanceTimersByTimeAsync(1000);
      await answer(true);
    }
    expect(sent.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4, 4]);
    committer.stop();
  });

  it("looks at nothing while nothing changes, but for the commit of every five seconds (K4)", async () => {
    const { committer, sent, answer, asked } = createCommits();
    committer.start();
    await vi.advanceTimersByTimeAsync(100);
    await answer(true);
    await vi.advanceTimersByTimeAsync(4999);
    expect([asked(), sent.length]).toEqual([1, 1]);
    committer.stop();
  });

  it("commits what changed while it slept an interval later (K4)", async () => {
    const { committer, sent, move, answer } = createCommits();
    committer.start();
    await vi.advanceTimersByTimeAsync(100);
    await answer(true);
    await vi.advanceTimersByTimeAsync(2345);
    move(6);
    await vi.advanceTimersByTimeAsync(50);
    move(7);
    await vi.advanceTimersByTimeAsync(49);
    expect(sent.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent.map(({ offset }) => offset)).toEqual([0, 7]);
    committer.stop();
  });

  it("is not woken by what changes before it starts or after it stopped", async () => {
    const { committer, sent, move, answer } = createCommits();
    move(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toEqual([]);
    committer.start();
    await vi.advanceTimersByTimeAsync(100);
    await answer(true);
    committer.stop();
    move(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent.map(({ offset }) => offset)).toEqual([1]);
  });

  it("commits no more when it is stopped", async () => {
    const { committer, sent } = createCommits();
    committer.start();
    committer.stop();
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toEqual([]);
  });

  it("does not wait for a commit of before the last join", async () => {
    const { committer, sent, move, answer } = createCommits();
    committer.start();
    await vi.advanceTimersByTimeAsync(100);
    move(7);
    committer.joined();
    await vi.advanceTimersByTimeAsync(100);
    expect(sent.map(({ offset }) => offset)).toEqual([0, 7]);
    // Its answer, should it come, says nothing of the one that is outstanding since.
    sent[0]?.answer(true);
    move(8);
    await vi.advanceTimersByTimeAsync(100);
    expect(sent.map(({ offset }) => offset)).toEqual([0, 7]);
    await answer(true);
    await vi.advanceTimersByTimeAsync(100);
    expect(sent.map(({ offset }) => offset)).toEqual([0, 7, 8]);
    committer.stop();
  });

  it("flushes after the commit that is outstanding, with what is finished by then", async () => {
    const { committer, sent, move, answer } = createCommits();
    committer.start();
    await vi.advanceTimersByTimeAsync(100);
    const flushed = committer.flush();
    move(9);
    await answer(true);
    expect(sent.map(({ offset }) => offset)).toEqual([0, 9]);
    await answer(true);
    await flushed;
    committer.stop();
  });
});

/** Partitions that move, come and go at random, and a group that answers as it likes, or not at all. */
class Group {
  readonly committer: Committer;
  readonly partitions: { changedAtMs: number | null; sentAtMs: number; moves: number; committable: Committable }[] = [];
  readonly #answers: ((accepted: boolean) => void)[] = [];
  mostOutstanding = 0;
  outstanding = 0;
  /** When the last commit was answered, or given up by a join. */
  answeredAtMs = performance.now();

  constructor() {
    this.committer = new Committer({
      session: { commit: (points) => this.#send(points) },
      owned: () => this.partitions.map(({ committable }) => committable),
      intervalMs: 100,
      clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
      onCommitted: () => undefined,
      onFailed: () => undefined,
    });
    this.committer.start();
  }

  gain(): void {
    const index = this.partitions.length;
    const partition = {
      changedAtMs: performance.now() as number | null,
      sentAtMs: performance.now(),
      moves: 0,
      committable: {
        commitPoint: (forced: boolean) => {
          if (partition.changedAtMs === null && !forced) return null;
          partition.changedAtMs = null;
          partition.sentAtMs = performance.now();
          return { topic: "t", partition: index, offset: partition.moves, metadata: "" };
        },
        commitFailed: () => this.#change(partition),
      },
    };
    this.partitions.push(partition);
    this.committer.changed();
  }

  move(pick: number): void {
    const partition = this.partitions[pick % Math.max(1, this.partitions.length)];
    if (partition === undefined) return;
    partition.moves += 1;
    this.#change(partition);
  }

  answer(accepted: boolean): void {
    this.#answers.shift()?.(accepted);
  }

  join(): void {
    // The answers of before the join never come: the others are shifted by nothing.
    this.#answers.length = 0;
    this.outstanding = 0;
    this.answeredAtMs = performance.now();
    this.committer.joined();
  }

  #change(partition: { changedAtMs: number | null }): void {
    if (partition.changedAtMs !== null) return;
    partition.changedAtMs = performance.now();
    this.committer.changed();
  }

  #send(_points: readonly CommitPoint[]): Promise<unknown> {
    this.outstanding += 1;
    this.mostOutstanding = Math.max(this.mostOutstanding, this.outstanding);
    return new Promise((resolve) => {
      this.#answers.push((accepted) => {
        this.outstanding -= 1;
        this.answeredAtMs = performance.now();
        resolve(accepted ? null : new Error("refused"));
      });
    });
  }
}

type Play = (group: Group, n: number) => void;

const PLAYS: readonly Play[] = [
  (group, n) => group.move(n),
  (group, n) => group.move(n),
  (group) => group.answer(true),
  (group) => group.answer(true),
  (group) => group.answer(false),
  (group, n) => {
    if (n % 4 === 0) group.gain();
  },
  (group, n) => {
    if (n % 4 === 0) group.join();
  },
];

it("K1, K3, K4: sends what changed in time whatever happens, one commit at a time, and all of it every five seconds", async () => {
  const steps = fc.array(fc.record({ play: fc.nat(PLAYS.length - 1), n: fc.nat(100), ms: fc.nat(1500) }), {
    maxLength: 60,
  });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const group = new Group();
      group.gain();
      try {
        for (const { play, n, ms } of all) {
          PLAYS[play]?.(group, n);
          await vi.advanceTimersByTimeAsync(ms);
          expect(group.mostOutstanding).toBeLessThanOrEqual(1);
          if (group.outstanding > 0) continue;
          const nowMs = performance.now();
          for (const { changedAtMs, sentAtMs } of group.partitions) {
            // Not sent yet: it changed less than an interval ago, or the commit before was answered as late as that.
            if (changedAtMs !== null) expect(nowMs - Math.max(changedAtMs, group.answeredAtMs)).toBeLessThan(100);
            expect(nowMs - Math.max(sentAtMs, group.answeredAtMs)).toBeLessThanOrEqual(5100);
          }
        }
      } finally {
        group.committer.stop();
      }
    }),
  );
});
