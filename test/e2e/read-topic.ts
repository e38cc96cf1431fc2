/** Reads a topic as a data engineer does: every record, decoded by its schema. */
import type { SchemaName, TopicNames } from "@posthaste/contracts/topics";
import { SILENT_LOG } from "@posthaste/core/log";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";

export interface ReadTopicOptions {
  readonly brokers: readonly string[];
  readonly schemaRegistry: string;
  readonly names: TopicNames;
  readonly topic: string;
  readonly schema: SchemaName;
}

/** All values that stand in the topic now, in the order of each partition; tombstones are left out. */
export async function readTopic<T>(options: ReadTopicOptions): Promise<readonly T[]> {
  const found: T[] = [];
  await readValues<T>(options, (value) => found.push(value));
  return found;
}

export interface Place {
  readonly partition: number;
  readonly offset: number;
}

/** The same one by one, for a topic of more than is to be held at once. */
export async function readValues<T>(
  options: ReadTopicOptions,
  onValue: (value: T, place: Place, headers: IncomingRecord["headers"]) => void,
): Promise<void> {
  const { brokers, schemaRegistry, names, topic, schema } = options;
  const connection = connectKafka({ brokers, clientId: "e2e", log: SILENT_LOG });
  try {
    const codec = await createOpenCodec({ url: schemaRegistry, names })<T>(schema);
    for (const { partition, start, end } of await topicOffsets(connection, topic)) {
      // A reader of an empty partition would cost its start for nothing.
      if (start === end) continue;
      const reader = await followLog(connection, {
        topic,
        partition,
        from: "start",
        onFailure: () => {},
        onRecords: async (records) => {
          for (const { value, offset, headers } of records) {
            if (!value) continue;
            await codec.prefetch(value);
            onValue(codec.decode(value), { partition, offset }, headers);
          }
        },
      });
      await reader.reached(end);
      await reader.close();
    }
  } finally {
    await connection.close();
  }
}

/** How many records stand in the topic now. */
export async function countRecords(brokers: readonly string[], topic: string): Promise<number> {
  const connection = connectKafka({ brokers, clientId: "e2e", log: SILENT_LOG });
  try {
    const offsets = await topicOffsets(connection, topic);
    return offsets.reduce((sum, { start, end }) => sum + (end - start), 0);
  } finally {
    await connection.close();
  }
}
