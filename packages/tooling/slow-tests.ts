/**
 * Begins a run with the test files that take longest, whatever package they are of: one that begins last would be
 * waited for by workers that have nothing left to do. Vitest's own order is package by package.
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take 25 seconds and more, as `npm test` prints them at its end, the longest first; their order is all that
 * counts. A shorter one does better in its package's turn, where it shares a process with what stands beside it.
 */
const SLOW_TESTS: readonly string[] = [
  "test/faults/brokers.test.ts",
  "packages/console/test/event-pages.test.ts",
  "test/e2e/killed-services.test.ts",
  "test/e2e/suppression.test.ts",
  "packages/console/test/configuration-pages.test.ts",
  "test/e2e/secured.test.ts",
  "test/e2e/console.test.ts",
  "test/e2e/verdicts.test.ts",
  "test/e2e/local-command.test.ts",
  "test/e2e/dead-letter-readers.test.ts",
  "services/delivery/test/remade-topic.test.ts",
  "test/e2e/browser.test.ts",
  "test/model/model.test.ts",
  "test/faults/partitions.test.ts",
  "packages/console/test/live.test.ts",
  "packages/local-stack/test/three-brokers.test.ts",
  "services/delivery/test/isolation.test.ts",
  "test/faults/replays.test.ts",
  "services/control/test/suppressions.test.ts",
  "test/faults/slow-answers.test.ts",
  "test/faults/engine.test.ts",
  "packages/console/test/configuration.test.ts",
  "services/control/test/live-resume.test.ts",
  "packages/kafka/test/consumer-ends.test.ts",
  "test/faults/rebalances.test.ts",
  "test/e2e/retries.test.ts",
  "services/control/test/command-line.test.ts",
  "services/router/test/remade-topic.test.ts",
  "services/router/test/unreadable.test.ts",
  "services/control/test/live.test.ts",
  "services/control/test/live-bounds.test.ts",
  "test/e2e/verdict-logs.test.ts",
  "packages/console/test/audiences.test.ts",
  "packages/console/test/frame.test.ts",
  "services/control/test/source-calls.test.ts",
  "services/control/test/docs.test.ts",
  "test/faults/audiences.test.ts",
];

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const gone = SLOW_TESTS.filter((file) => !existsSync(join(root, file)));
    if (gone.length > 0) throw new Error(`packages/tooling/slow-tests.ts names what is no file: ${gone.join(", ")}`);
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = SLOW_TESTS.indexOf(relative(root, moduleId));
      return rank === -1 ? SLOW_TESTS.length : rank;
    };
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b));
  }
}
