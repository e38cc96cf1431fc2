/** The test files by their needs: the rings of docs/testing.md. Paths begin at the root of the clone. */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * In-process tests: no broker and no browser. The tests of a package's `test/` that open sockets of their own process.
 */
export const UNIT_TESTS: readonly string[] = [
  "packages/*/src/**/*.test.ts",
  "services/*/src/**/*.test.ts",
  "packages/client/test/**/*.test.ts",
  "packages/runtime/test/**/*.test.ts",
  "packages/webhook/test/**/*.test.ts",
  "services/ingest/test/hostile/*.test.ts",
  "test/hostile/*.test.ts",
  // The consumer and the producer over brokers that the test plays.
  "packages/kafka/test/consumer.test.ts",
  "packages/kafka/test/consumer-joins.test.ts",
  "packages/kafka/test/consumer-stops.test.ts",
  "packages/kafka/test/moved-leader.test.ts",
  "packages/kafka/test/producer.test.ts",
  "packages/kafka/test/producer-log.test.ts",
  "packages/kafka/test/producer-partitions.test.ts",
  "packages/kafka/test/producer-properties.test.ts",
];

/** Nightly tests (`npm run test:long`). */
export const LONG_TESTS = "**/*.long.test.ts";

/** Tests that change the modules or the memory of their process, and so have a process of their own in every run. */
export const LONE_TESTS: readonly string[] = [
  ...testsThatReplaceModules(),
  // It names a container runtime, and testcontainers keeps the first one for the life of a process.
  "packages/local-stack/test/containers.test.ts",
  // They load kafkajs again, or undo the changes that the process made to it.
  "packages/kafka/src/kafkajs/encoder-growth.test.ts",
  "packages/kafka/src/kafkajs/lazy-decoding.test.ts",
  "packages/kafka/src/kafkajs/request-queue-timer.test.ts",
  // They measure the memory of their process.
  "services/ingest/test/hostile.test.ts",
  "services/ingest/test/limits.test.ts",
];

/** A replaced module counts only where no file before it in the process has imported the real one. */
function testsThatReplaceModules(): readonly string[] {
  return globSync("{packages,services}/*/{src,test}/**/*.test.ts", { cwd: root }).filter((file) =>
    /^vi\.mock\(/m.test(readFileSync(`${root}${file}`, "utf8")),
  );
}

/** The patterns of a package or service, from its own folder. */
export function ofFolder(name: string, patterns: readonly string[]): readonly string[] {
  return patterns.flatMap((pattern) => {
    const [, folder, path] = /^(?:packages|services)\/([^/]+)\/(.+)$/.exec(pattern) ?? [];
    return path !== undefined && (folder === name || folder === "*") ? [path] : [];
  });
}
