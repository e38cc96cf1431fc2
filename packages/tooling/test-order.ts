/**
 * The order of a run's test files. Files that keep the processor busy, with browsers, brokers or whole installations,
 * begin one after another over the run, so that beside each of them run files that mostly wait. Were they all first,
 * they would hold up one another, and later the cores would idle. All other files come in vitest's own order, package
 * by package, so that most share a process with what stands beside them.
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** With the seconds that they take, as `npm test` prints them at its end: about right is enough. */
const BUSY_FILES: Readonly<Record<string, number>> = {
  "test/faults/brokers.test.ts": 50,
  "test/e2e/killed-services.test.ts": 95,
  "packages/console/test/event-pages.test.ts": 58,
  "test/e2e/secured.test.ts": 75,
  "packages/console/test/audiences.test.ts": 10,
  "test/e2e/suppression.test.ts": 70,
  "packages/console/test/frame.test.ts": 20,
  "packages/console/test/configuration-pages.test.ts": 47,
  "test/e2e/console.test.ts": 47,
  "packages/console/test/overview.test.ts": 11,
  "test/faults/partitions.test.ts": 30,
  "packages/console/test/long-lists.test.ts": 30,
  "packages/console/test/deletions.test.ts": 12,
  "test/e2e/local-command.test.ts": 32,
  "packages/console/test/live.test.ts": 22,
  "test/e2e/verdicts.test.ts": 30,
  "packages/console/test/dialogs.test.ts": 23,
  "packages/console/test/access.test.ts": 6,
  "test/model/model.test.ts": 24,
  "test/e2e/console-repairs.test.ts": 55,
  "packages/console/test/destination.test.ts": 18,
  "test/faults/engine.test.ts": 25,
  "packages/console/test/palette.test.ts": 21,
  "packages/local-stack/test/three-brokers.test.ts": 20,
  "packages/console/test/event.test.ts": 4,
  "test/faults/replays.test.ts": 25,
  "packages/console/test/still-reading.test.ts": 17,
  "packages/console/test/pictures.test.ts": 34,
  "test/faults/slow-answers.test.ts": 23,
  "packages/console/test/layout-shift.test.ts": 13,
  "test/faults/rebalances.test.ts": 21,
  "packages/console/test/event-remedies.test.ts": 16,
  "packages/console/test/lists.test.ts": 13,
  "test/faults/audiences.test.ts": 17,
  "packages/console/test/replays.test.ts": 14,
  "test/e2e/retries.test.ts": 19,
  "packages/console/test/source.test.ts": 11,
  "test/e2e/dead-letter-readers.test.ts": 10,
  "packages/console/test/source-calls.test.ts": 8,
  "packages/console/test/destinations.test.ts": 22,
  "packages/console/test/connect.test.ts": 24,
  "test/e2e/verdict-logs.test.ts": 12,
  "test/e2e/browser.test.ts": 10,
};
/** What any other file may take: one beside its source needs no broker. */
const SECONDS_OF_A_UNIT = 0.2;
const SECONDS_OF_ANOTHER = 4;
/** The last busy file begins when so much of the others' time is over, so that none is waited for at the end. */
const BUSY_UNTIL = 0.85;

export class BusySpread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const gone = Object.keys(BUSY_FILES).filter((file) => !existsSync(join(root, file)));
    if (gone.length > 0) throw new Error(`packages/tooling/test-order.ts names what is no file: ${gone.join(", ")}`);
    return spread(await super.sort(files), ({ moduleId }) => relative(root, moduleId));
  }
}

/** The files with the busy ones spread, which come in the order of their table. */
export function spread<T>(files: readonly T[], pathOf: (file: T) => string): T[] {
  const ranks = new Map(Object.keys(BUSY_FILES).map((path, rank) => [path, rank]));
  const rankOf = (file: T): number => ranks.get(pathOf(file)) ?? -1;
  const others = files.filter((file) => rankOf(file) === -1);
  const busy = files.filter((file) => rankOf(file) >= 0).sort((a, b) => rankOf(a) - rankOf(b));
  const secondsOf = (file: T): number => BUSY_FILES[pathOf(file)] ?? secondsOfOther(pathOf(file));
  const sumOf = (some: readonly T[]): number => some.reduce((sum, file) => sum + secondsOf(file), 0);
  // Of two files that follow one another, the busy ones pass so many of their seconds in one of the others'.
  const pace = sumOf(busy) / (sumOf(others) * BUSY_UNTIL);
  const sorted: T[] = [];
  let [busySeconds, otherSeconds] = [0, 0];
  for (const other of others) {
    while (busy.length > 0 && busySeconds <= otherSeconds * pace) {
      const next = busy.shift() as T;
      busySeconds += secondsOf(next);
      sorted.push(next);
    }
    otherSeconds += secondsOf(other);
    sorted.push(other);
  }
  return [...sorted, ...busy];
}

function secondsOfOther(path: string): number {
  return /^(?:packages|services)\/[^/]+\/src\//.test(path) ? SECONDS_OF_A_UNIT : SECONDS_OF_ANOTHER;
}
