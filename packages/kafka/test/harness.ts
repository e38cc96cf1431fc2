/** Shared by the tests of this folder: a connection of a test's own, and a whole partition as it stands. */
import { SILENT_LOG } from "@posthaste/core/log";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { connectKafka, type KafkaConnection, type KafkaConnectionOptions } from "../src/connection/connect.ts";
import { topicOffsets } from "../src/connection/topic-offsets.ts";
import { followLog } from "../src/log/log-reader.ts";
import type { IncomingRecord } from "../src/wire/incoming-record.ts";

/** A connection to the test brokers; the test closes it. */
export function connectTest(options: Partial<KafkaConnectionOptions> = {}): KafkaConnection {
  return connectKafka({ brokers: kafkaBrokers(), clientId: "test", log: SILENT_LOG, ...options });
}

/** Every record of a topic, by partition and offset. */
export async function readTopic(connection: KafkaConnection, topic: string): Promise<readonly IncomingRecord[]> {
  const all: IncomingRecord[] = [];
  for (const { partition, end } of await topicOffsets(connection, topic)) {
    const reader = await followLog(connection, {
      topic,
      partition,
      from: "start",
      onRecords: (records) => void all.push(...records),
      onFailure: (reason) => {
        throw reason;
      },
    });
    await reader.reached(end);
    await reader.close();
  }
  return all;
}

/** Values as text, in the order of the partition. */
export async function readValues(
  connection: KafkaConnection,
  topic: string,
  partition = 0,
): Promise<readonly string[]> {
  const records = await readTopic(connection, topic);
  return records.filter((record) => record.partition === partition).map(({ value }) => String(value));
}
