/** Makes the cluster's topics match the catalogue, prints what was different, and ends. Run before the services start. */
import { createTopicNames, DEFAULT_TOPIC_PREFIX, topicCatalogue } from "@posthaste/contracts/topics";
import { DEFAULT_RETRY_DELAYS_MS } from "@posthaste/core/backoff";
import { connectKafka } from "@posthaste/kafka/connect";
import { applyTopics, formatDifference } from "@posthaste/kafka/topic-admin";
import { ConfigError, commaList, durations, readConfig, wholeNumber } from "@posthaste/runtime/config";
import { createLogger } from "@posthaste/runtime/logger";
import { z } from "zod";

const settings = z.object({
  KAFKA_BROKERS: commaList(),
  POSTHASTE_TOPIC_PREFIX: z.string().default(DEFAULT_TOPIC_PREFIX),
  POSTHASTE_RETRY_SCHEDULE: durations().default(DEFAULT_RETRY_DELAYS_MS),
  POSTHASTE_PARTITIONS: wholeNumber(1, 1000).default(6),
  POSTHASTE_REPLICATION_FACTOR: wholeNumber(1, 10).default(1),
  POSTHASTE_MIN_INSYNC_REPLICAS: wholeNumber(1, 10).default(1),
});

async function main(): Promise<void> {
  const config = readConfig(settings, process.env);
  const names = createTopicNames(config.POSTHASTE_TOPIC_PREFIX);
  const catalogue = topicCatalogue({
    names,
    partitions: config.POSTHASTE_PARTITIONS,
    retryDelaysMs: config.POSTHASTE_RETRY_SCHEDULE,
  });
  const log = createLogger({ service: "topics", level: "warn" });
  const connection = connectKafka({ brokers: config.KAFKA_BROKERS, clientId: "posthaste-topics", log });
  try {
    const differences = await applyTopics(connection, catalogue, {
      names,
      replicationFactor: config.POSTHASTE_REPLICATION_FACTOR,
      minInsyncReplicas: config.POSTHASTE_MIN_INSYNC_REPLICAS,
    });
    for (const difference of differences) process.stdout.write(`${formatDifference(difference)}\n`);
  } finally {
    await connection.close();
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`topics: ${error instanceof ConfigError ? error.message : String(error)}\n`);
  process.exitCode = error instanceof ConfigError ? 2 : 1;
}
