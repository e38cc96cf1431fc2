/**
 * Prints how the cluster's topics differ from the catalogue, makes them match it and the registry know every schema,
 * and ends. Run before the services start. With `--dry-run` it changes nothing. With `--raise-incarnation` it only
 * gives the events topic a higher topic generation (rule D2), for an operator who set the routers back in it.
 */
import { parseArgs } from "node:util";
import { createTopicNames, SCHEMA_NAMES, type TopicNames, topicCatalogue } from "@posthaste/contracts/topics";
import { replicationAdvice } from "@posthaste/doctor/replication-advice";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka, type KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readTopicId } from "@posthaste/kafka/connection/topic-id";
import { applyTopics, formatDifference, planTopics } from "@posthaste/kafka/topics/topic-admin";
import { findEventsLog, raiseEventsLog } from "@posthaste/kafka/topics/topic-generation";
import { replicationOf, type TopicDifference } from "@posthaste/kafka/topics/topic-plan";
import { ConfigError, readConfig } from "@posthaste/runtime/config";
import { kafkaAccess, registryAccess } from "@posthaste/runtime/connection-settings";
import { createLogger } from "@posthaste/runtime/logger";
import { topicsSettings } from "./health/topics/topics-settings.ts";

interface Arguments {
  readonly isDryRun: boolean;
  readonly isRaise: boolean;
}

function readArguments(): Arguments {
  const flag = { type: "boolean", default: false } as const;
  try {
    const { values } = parseArgs({ options: { "dry-run": flag, "raise-incarnation": flag } });
    const [isDryRun, isRaise] = [values["dry-run"], values["raise-incarnation"]];
    if (isDryRun && isRaise) throw new Error("one of the two at a time");
    return { isDryRun, isRaise };
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new ConfigError([`${reason}; the options are --dry-run and --raise-incarnation`]);
  }
}

async function raise(connection: KafkaConnection, names: TopicNames): Promise<void> {
  const before = await findEventsLog(connection, names);
  const { topicGeneration } = await raiseEventsLog(connection, names, await readTopicId(connection, names.events));
  process.stdout.write(
    `~ ${names.events}: topic incarnation ${before?.topicGeneration ?? "(none)"} -> ${topicGeneration}\n`,
  );
}

function print(differences: readonly TopicDifference[]): void {
  for (const difference of differences) process.stdout.write(`${formatDifference(difference)}\n`);
}

async function main(): Promise<void> {
  const { isDryRun, isRaise } = readArguments();
  const config = readConfig(topicsSettings, process.env);
  const names = createTopicNames(config.POSTHASTE_TOPIC_PREFIX);
  const catalogue = topicCatalogue({
    names,
    partitions: config.POSTHASTE_PARTITIONS,
    retryDelaysMs: config.POSTHASTE_RETRY_SCHEDULE,
    keepMs: {
      events: config.POSTHASTE_EVENTS_KEEP,
      deliveries: config.POSTHASTE_DELIVERIES_KEEP,
      retries: config.POSTHASTE_RETRIES_KEEP,
      attempts: config.POSTHASTE_ATTEMPTS_KEEP,
      deadLetters: config.POSTHASTE_DEAD_LETTERS_KEEP,
      rejectedCalls: config.POSTHASTE_REJECTED_CALLS_KEEP,
      unrouted: config.POSTHASTE_UNROUTED_KEEP,
      audit: config.POSTHASTE_AUDIT_KEEP,
    },
  });
  const log = createLogger({ service: "topics", level: "warn" });
  const connection = connectKafka({ ...kafkaAccess(config), clientId: "posthaste-topics", log });
  try {
    if (isRaise) return await raise(connection, names);
    const { brokers } = await connection.withAdmin((admin) => admin.describeCluster());
    const usual = replicationOf(brokers.length);
    const replication = {
      replicationFactor: config.POSTHASTE_REPLICATION_FACTOR ?? usual.replicationFactor,
      minInsyncReplicas: config.POSTHASTE_MIN_INSYNC_REPLICAS ?? usual.minInsyncReplicas,
    };
    if (isDryRun) print(await planTopics(connection, catalogue, replication));
    else {
      await applyTopics(connection, catalogue, { ...replication, names, onPlan: print });
      const openCodec = createOpenCodec({ ...registryAccess(config), names, log });
      for (const schema of SCHEMA_NAMES) await openCodec(schema);
    }
    const advice = replicationAdvice(brokers.length, replication.replicationFactor);
    if (advice !== null) process.stderr.write(`topics: ${advice.what} ${advice.remedy}\n`);
  } finally {
    await connection.close();
  }
}

try {
  await main();
  // Sockets and timers that kafkajs leaves of a connection that it gave up would hold the process for seconds.
  process.exit(0);
} catch (error) {
  process.stderr.write(`topics: ${error instanceof ConfigError ? error.message : String(error)}\n`);
  process.exit(error instanceof ConfigError ? 2 : 1);
}
