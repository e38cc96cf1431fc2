/**
 * Begins a run with the test files that take longest, whatever package they are of: one that begins last would be
 * waited for by workers that have nothing left to do. Vitest's own order is package by package.
 */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take ten seconds and more, as `npm test` prints them at its end; their order is all that counts. The
 * longest stand first, but beside the first one, which keeps two cores busy with its brokers, those that mostly wait.
 */
const SLOW_TESTS: readonly string[] = [
  "test/faults/brokers.test.ts",
  "test/e2e/suppression.test.ts",
  "services/delivery/test/remade-topic.test.ts",
  "test/e2e/killed-services.test.ts",
  "packages/kafka/test/consumer-ends.test.ts",
  "services/router/test/remade-topic.test.ts",
  "services/control/test/suppressions.test.ts",
  "test/e2e/retries.test.ts",
  "test/faults/partitions.test.ts",
  "test/model/model.test.ts",
  "services/delivery/test/isolation.test.ts",
  "services/delivery/test/several-urls.test.ts",
  "services/delivery/test/simulated-hour.test.ts",
  "packages/local-stack/test/three-brokers.test.ts",
  "test/e2e/local-command.test.ts",
  "packages/kafka/test/login.test.ts",
  "test/faults/engine.test.ts",
  "test/faults/replays.test.ts",
  "services/router/test/unreadable.test.ts",
  "packages/kafka/test/topic-admin.test.ts",
  "test/e2e/secured.test.ts",
  "test/e2e/dead-letter-readers.test.ts",
  "packages/kafka/test/remade-topic.test.ts",
  "test/faults/rebalances.test.ts",
  "test/faults/audiences.test.ts",
  "services/control/test/audiences.test.ts",
  "services/control/test/audience-membership.test.ts",
  "services/delivery/test/suppression.test.ts",
  "services/ingest/test/frozen-table.test.ts",
  "test/e2e/browser.test.ts",
  "packages/kafka/test/secured-liveness.test.ts",
  "services/delivery/test/beside-a-bad-url.test.ts",
  "services/control/test/topics-main.test.ts",
  "packages/kafka/test/windowed-consumer.test.ts",
  "services/ingest/test/neighbours.test.ts",
  "services/control/test/command-line.test.ts",
  "services/control/test/deliveries.test.ts",
  "services/delivery/test/unreadable.test.ts",
  "services/control/test/replays.test.ts",
  "services/control/test/destinations.test.ts",
  "packages/kafka/test/key-table.test.ts",
  "test/e2e/events.test.ts",
  "test/e2e/clients.test.ts",
  "services/control/test/unreadable.test.ts",
  "services/router/test/takeover.test.ts",
  "services/control/test/secured-topics.test.ts",
  "packages/local-stack/test/secured-broker.test.ts",
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
