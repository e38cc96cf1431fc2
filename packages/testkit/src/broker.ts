/**
 * The real broker and registry that a test talks to, named by the environment (the run's global setup sees to that).
 */
import { type Admin, Kafka, logLevel } from "kafkajs";
import { quietKafkajs } from "./quiet-kafkajs.ts";

/** Addresses from `KAFKA_BROKERS`. Throws when it is not set. */
export function kafkaBrokers(): readonly string[] {
  return required("KAFKA_BROKERS").split(",");
}

/** The registry's Confluent API, from `SCHEMA_REGISTRY_URL`. Throws when it is not set. */
export function schemaRegistryUrl(): string {
  return required("SCHEMA_REGISTRY_URL");
}

/** For a connection to be made: kafkajs's own second is over before a busy machine comes to it. */
export const CONNECT_PATIENCE_MS = 30_000;

/** A bare kafkajs client, for a test's changes of a cluster behind the project's back. */
export function createTestKafka(brokers: readonly string[] = kafkaBrokers()): Kafka {
  quietKafkajs();
  return new Kafka({
    clientId: "testkit",
    brokers: [...brokers],
    connectionTimeout: CONNECT_PATIENCE_MS,
    logLevel: logLevel.NOTHING,
  });
}

/** Runs `work` with an admin client that is disconnected afterwards, whatever happens. */
export async function withAdmin<T>(
  work: (admin: Admin) => Promise<T>,
  brokers: readonly string[] = kafkaBrokers(),
): Promise<T> {
  const admin = createTestKafka(brokers).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") {
    throw new Error(`${name} is not set: this test needs the kafka project configuration (packages/tooling/vitest.ts)`);
  }
  return value;
}
