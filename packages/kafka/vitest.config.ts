import { projectConfig } from "@posthaste/tooling/vitest";

export default projectConfig("kafka", {
  kafka: true,
  brokerless: [
    "test/consumer.test.ts",
    "test/consumer-stops.test.ts",
    "test/consumer-joins.test.ts",
    "test/moved-leader.test.ts",
    "test/producer.test.ts",
    "test/producer-log.test.ts",
    "test/producer-partitions.test.ts",
    "test/producer-properties.test.ts",
  ],
});
