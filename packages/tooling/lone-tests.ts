/**
 * Test files that change what others of their process would import or measure, and so have a process of their own in
 * every run; all others share processes (vitest.ts).
 */
export const LONE_TESTS: readonly string[] = [
  // They put other modules in the place of real ones.
  "packages/kafka/test/unknown-codec.test.ts",
  "services/router/src/dedupe.test.ts",
  "services/router/test/unknown-destinations.test.ts",
  // It names a container runtime, and testcontainers keeps for good which one was named when it was asked first.
  "packages/local-stack/test/containers.test.ts",
  // They load kafkajs anew, or undo what the process did to it.
  "packages/kafka/src/kafkajs/encoder-growth.test.ts",
  "packages/kafka/src/kafkajs/lazy-decoding.test.ts",
  "packages/kafka/src/kafkajs/request-queue-timer.test.ts",
  // They measure the memory of their process.
  "services/ingest/test/hostile.test.ts",
  "services/ingest/test/limits.test.ts",
];
