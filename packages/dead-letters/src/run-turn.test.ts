/** Rules of run-turn.ts. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { RunTurn } from "./run-turn.ts";

/** A run that ends when it is told to, and then only when `finish` lets it. */
function startRun(turn: RunTurn) {
  const finished = Promise.withResolvers<void>();
  const seen = { signals: [] as AbortSignal[], isOver: false, finish: finished.resolve };
  const over = turn.run(async (signal) => {
    seen.signals.push(signal);
    await finished.promise;
  });
  void over.then(() => {
    seen.isOver = true;
  });
  return seen;
}

const wasSignalled = ({ signals }: { readonly signals: readonly AbortSignal[] }) =>
  signals.map(({ aborted }) => aborted);

it("TN1: a rebalance waits until what ran has ended in order, and nothing is begun meanwhile", async () => {
  const turn = new RunTurn();
  turn.begin();
  const [run, beside] = [startRun(turn), startRun(turn)];
  expect([wasSignalled(run), turn.isOurs]).toEqual([[false], true]);
  let isHeld = false;
  const held = turn.hold().then(() => {
    isHeld = true;
  });
  expect([wasSignalled(run), wasSignalled(beside), turn.isOurs]).toEqual([[true], [true], false]);
  expect(wasSignalled(startRun(turn))).toEqual([]);
  run.finish();
  await nextTurn();
  expect([run.isOver, isHeld]).toEqual([true, false]);
  beside.finish();
  await held;
  turn.goOn();
  expect([turn.isOurs, wasSignalled(startRun(turn))]).toEqual([true, [false]]);
});

it("TN1: of a run that fails a rebalance does not wait for ever, and hears nothing", async () => {
  const turn = new RunTurn();
  turn.begin();
  const failure = new Error("the brokers are away");
  const run = turn.run(async () => {
    await nextTurn();
    throw failure;
  });
  const held = turn.hold();
  await expect(run).rejects.toBe(failure);
  await held;
});

it("TN1: what is given to this process is not run before the rebalance is over", async () => {
  const turn = new RunTurn();
  const first = turn.begin();
  await turn.hold();
  turn.begin();
  expect([first.aborted, turn.isOurs, wasSignalled(startRun(turn))]).toEqual([true, false, []]);
  turn.goOn();
  expect(wasSignalled(startRun(turn))).toEqual([false]);
});

it("TN1: what was given up in a rebalance is not run after it", async () => {
  const turn = new RunTurn();
  turn.begin();
  await turn.hold();
  turn.end();
  turn.goOn();
  expect([turn.isOurs, wasSignalled(startRun(turn))]).toEqual([false, []]);
});

it("TN2: what runs is told when the partition is given up, without a rebalance too", () => {
  const turn = new RunTurn();
  const owning = turn.begin();
  const run = startRun(turn);
  turn.end();
  expect([owning.aborted, wasSignalled(run), turn.isOurs]).toEqual([true, [true], false]);
});

it("TN3: a partition that comes while the process ends begins nothing", () => {
  const turn = new RunTurn();
  const first = turn.begin();
  turn.close();
  const next = turn.begin();
  turn.goOn();
  expect([first.aborted, next.aborted, turn.isOurs, wasSignalled(startRun(turn))]).toEqual([true, true, false, []]);
});
