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
      if (!partition.changed && !forced) return null;
      partition.changed = false;
      return { topic: "t", partition: 0, offset: partition.offset, metadata: "" };
    },
    commitFailed: () => {
      partition.changed = true;
    },
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
    partition.changed = true;
  };
  const answer = async (accepted: boolean) => {
    sent.at(-1)?.answer(accepted);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { committer, sent, move, answer, onCommitted, onFailed };
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

  it("commits what did not change as often beside what does (K3)", async () => {
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
