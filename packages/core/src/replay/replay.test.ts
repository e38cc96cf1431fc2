import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  advanceProgress,
  canWrite,
  claimProgress,
  desiredStateAfter,
  isDue,
  isEnded,
  nextOffset,
  REPLAY_ACTS,
  REPLAY_STATES,
  type ReplayAct,
  type ReplayDesiredState,
  type ReplayProgress,
  replayState,
  type SkipCause,
  sendableDeadLetters,
} from "./replay.ts";

const BATCH = 4;

interface DeadLetterFact {
  /** Counted when the plan was made. */
  readonly isPlanned: boolean;
}

interface Runner {
  mine: ReplayProgress;
  written: ReplayProgress;
  isAlive: boolean;
}

/**
 * The topic's two records, the dead letters, the records that the brokers got, and every process that was ever a
 * runner.
 */
class World {
  readonly #deadLetters: readonly (readonly DeadLetterFact[])[];
  readonly #runners: Runner[] = [];
  readonly sent = new Map<string, number>();
  readonly suppressed = new Set<string>();
  want: ReplayDesiredState = "running";
  progress: ReplayProgress | undefined;
  claims = 0;
  nowMs = 1;

  constructor(deadLetters: readonly (readonly DeadLetterFact[])[]) {
    this.#deadLetters = deadLetters;
  }

  get matched(): number {
    return this.#deadLetters.flat().filter(({ isPlanned }) => isPlanned).length;
  }

  act(act: ReplayAct): void {
    this.want = desiredStateAfter(act, this.want, this.progress) ?? this.want;
  }

  /** Another runner begins or goes on, whether or not one lives. */
  claim(): Runner | undefined {
    if (!isDue(this.want, this.progress)) return undefined;
    this.progress = claimProgress(this.progress, this.nowMs);
    this.claims += 1;
    const runner = { mine: this.progress, written: this.progress, isAlive: true };
    this.#runners.push(runner);
    return runner;
  }

  crash(which: number): void {
    const runner = this.#at(which);
    if (runner !== undefined) runner.isAlive = false;
  }

  /**
   * Sends up to `deadLetters` dead letters, as far as the batch takes them, and then writes if it is told to or has
   * none.
   */
  run(which: number, { deadLetters, saves }: { readonly deadLetters: number; readonly saves: boolean }): void {
    const runner = this.#at(which);
    if (runner === undefined) return;
    if (this.want === "running")
      this.#send(runner, Math.min(deadLetters, sendableDeadLetters(runner.mine, runner.written, BATCH)));
    if (saves || sendableDeadLetters(runner.mine, runner.written, BATCH) <= 0) this.#save(runner);
  }

  #at(which: number): Runner | undefined {
    const alive = this.#runners.filter(({ isAlive }) => isAlive);
    return alive[which % Math.max(1, alive.length)];
  }

  #send(runner: Runner, deadLetters: number): void {
    let left = deadLetters;
    for (const [partition, all] of this.#deadLetters.entries()) {
      let next = nextOffset(runner.mine, { partition, offset: 0 });
      while (next < all.length && left > 0) {
        const place = `${partition}:${next}`;
        const leftOut: SkipCause[] = [];
        let sent = 0;
        if (all[next]?.isPlanned && this.suppressed.has(place)) leftOut.push("suppressed");
        else if (all[next]?.isPlanned) {
          this.sent.set(place, (this.sent.get(place) ?? 0) + 1);
          sent = 1;
          left -= 1;
        }
        next += 1;
        runner.mine = advanceProgress(runner.mine, { partition, next, sent, leftOut });
      }
    }
  }

  #save(runner: Runner): void {
    if (!canWrite(this.progress, runner.mine)) {
      runner.isAlive = false;
      return;
    }
    const isThrough = this.#deadLetters.every(
      (all, partition) => nextOffset(runner.mine, { partition, offset: 0 }) >= all.length,
    );
    const state = isThrough ? "done" : this.want === "planned" ? "running" : this.want;
    const endedAtMs = state === "done" || state === "cancelled" ? this.nowMs : null;
    runner.mine = { ...runner.mine, state, endedAtMs };
    runner.written = runner.mine;
    this.progress = runner.mine;
    if (state !== "running") runner.isAlive = false;
  }
}

const deadLetters = fc.array(fc.array(fc.record({ isPlanned: fc.boolean() }), { maxLength: 15 }), {
  minLength: 1,
  maxLength: 3,
});
const which = fc.nat({ max: 3 });
const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("run" as const), which, deadLetters: which, saves: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("claim" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("act" as const), act: fc.constantFrom(...REPLAY_ACTS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("suppress" as const), which, partition: fc.nat({ max: 2 }) }) },
);

function live(world: World, operations: readonly (typeof operation extends fc.Arbitrary<infer O> ? O : never)[]): void {
  for (const each of operations) {
    if (each.kind === "run") world.run(each.which, each);
    else if (each.kind === "claim") world.claim();
    else if (each.kind === "crash") world.crash(each.which);
    else if (each.kind === "act") world.act(each.act);
    else world.suppressed.add(`${each.partition}:${each.which}`);
  }
}

/** Whatever happened, somebody goes on until it is over. */
function bringToEnd(world: World): void {
  for (let turn = 0; turn < 200 && isDue(world.want, world.progress); turn += 1) {
    if (turn % 50 === 0) world.claim();
    for (const runner of [0, 1, 2, 3]) world.run(runner, { deadLetters: BATCH, saves: true });
  }
}

describe("a replay", () => {
  it("RP1 to RP4: sends each dead letter of its plan, no other, and counts it once, whoever ends or goes on when", () => {
    fc.assert(
      fc.property(deadLetters, fc.array(operation, { maxLength: 60 }), (all, operations) => {
        const world = new World(all);
        live(world, operations);
        world.act("resume");
        bringToEnd(world);
        expect(world.progress === undefined || isEnded(world.progress)).toBe(true);
        const planned = all.flatMap((each, partition) =>
          each.flatMap(({ isPlanned }, offset) => (isPlanned ? [`${partition}:${offset}`] : [])),
        );
        expect([...world.sent.keys()].filter((place) => !planned.includes(place))).toEqual([]);
        const { sent = 0, leftOut, state } = world.progress ?? {};
        expect(sent).toBeLessThanOrEqual(world.matched);
        expect(sent).toBeLessThanOrEqual(world.sent.size + (leftOut?.suppressed ?? 0));
        if (state !== "done") return;
        expect(sent + (leftOut?.suppressed ?? 0)).toBe(world.matched);
        expect(planned.filter((place) => !world.sent.has(place) && !world.suppressed.has(place))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("RP3: sends no more than a batch twice for each time that another runner went on", () => {
    fc.assert(
      fc.property(deadLetters, fc.array(operation, { maxLength: 80 }), (all, operations) => {
        const world = new World(all);
        live(world, operations);
        bringToEnd(world);
        const repeats = [...world.sent.values()].reduce((sum, times) => sum + times - 1, 0);
        expect(repeats).toBeLessThanOrEqual(BATCH * Math.max(0, world.claims - 1));
      }),
      { numRuns: 500 },
    );
  });

  it("RP2: is not written to by who was taken over, nor once it has ended", () => {
    const first = claimProgress(undefined, 5);
    const second = claimProgress(first, 9);
    expect([first.generation, second.generation, second.takeovers, second.beganAtMs]).toEqual([1, 2, 1, 5]);
    expect([canWrite(second, first), canWrite(second, second), canWrite(undefined, first)]).toEqual([
      ...[false, true, false],
    ]);
    const ended = { ...second, state: "done" as const, endedAtMs: 10 };
    expect(canWrite(ended, second)).toBe(false);
    for (const state of ["paused", "waiting"] as const) {
      expect(claimProgress({ ...second, state }, 9).takeovers).toBe(1);
    }
  });

  it("is told as running until the runner has stopped, and by what is wanted where none runs", () => {
    const running = claimProgress(undefined, 1);
    const done = { ...running, state: "done" as const, endedAtMs: 2 };
    expect([
      replayState("planned", undefined),
      replayState("running", undefined),
      replayState("running", running),
      replayState("running", { ...running, state: "paused" }),
      replayState("paused", running),
      replayState("paused", { ...running, state: "paused" }),
      replayState("paused", undefined),
      replayState("cancelled", running),
      replayState("cancelled", { ...running, state: "waiting" }),
      replayState("cancelled", done),
    ]).toEqual([
      ...["planned", "waiting", "running", "waiting"],
      ...["running", "paused", "paused"],
      ...["running", "cancelled", "done"],
    ]);
    expect(isDue("planned", undefined)).toBe(false);
    expect([isDue("paused", running), isDue("paused", { ...running, state: "paused" })]).toEqual([true, false]);
    expect([isDue("cancelled", undefined), isDue("cancelled", done)]).toEqual([true, false]);
  });

  it("takes an act that its state allows, or that stands already, and no other", () => {
    const running = claimProgress(undefined, 1);
    const paused = { ...running, state: "paused" as const };
    const ended = (state: "done" | "cancelled" | "failed") => ({ ...running, state, endedAtMs: 2 });
    const cases: readonly (readonly [ReplayDesiredState, ReplayProgress | undefined])[] = [
      ["planned", undefined],
      ["running", undefined],
      ["running", running],
      ["paused", paused],
      ["paused", running],
      ["cancelled", running],
      ["cancelled", ended("cancelled")],
      ["running", ended("done")],
      ["paused", ended("failed")],
    ];
    const table = cases.map(([want, progress]) =>
      [replayState(want, progress), ...REPLAY_ACTS.map((act) => desiredStateAfter(act, want, progress) ?? "-")].join(
        " ",
      ),
    );
    expect(table).toEqual([
      "planned running - - -",
      "waiting running paused running cancelled",
      "running running paused running cancelled",
      "paused - paused running cancelled",
      "running - paused running cancelled",
      "running - - - cancelled",
      "cancelled - - - cancelled",
      "done - - - -",
      "failed - - - -",
    ]);
    expect(new Set(table.map((line) => line.split(" ")[0]))).toEqual(new Set(REPLAY_STATES));
  });
});
