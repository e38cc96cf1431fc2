/** Reads the dead-letter topic as a data engineer does: every record, decoded by its schema. */
import type { TopicNames } from "@posthaste/contracts/topics";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import { SILENT_LOG } from "@posthaste/core/log";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog } from "@posthaste/kafka/log/log-reader";

export interface DeadLettersOptions {
  readonly brokers: readonly string[];
  readonly schemaRegistry: string;
  readonly names: TopicNames;
}

/** All dead letters that stand in the topic now. */
export async function readDeadLetters(options: DeadLettersOptions): Promise<readonly DeadLetter[]> {
  const { brokers, schemaRegistry, names } = options;
  const connection = connectKafka({ brokers, clientId: "e2e", log: SILENT_LOG });
  const found: DeadLetter[] = [];
  try {
    const codec = await createOpenCodec({ url: schemaRegistry, names })<DeadLetter>("dead-letter");
    for (const { partition, end } of await topicOffsets(connection, names.deadLetters)) {
      const reader = await followLog(connection, {
        topic: names.deadLetters,
        partition,
        from: "start",
        onFailure: () => {},
        onRecords: async (records) => {
          for (const { value } of records) {
            if (!value) continue;
            await codec.prefetch(value);
            found.push(codec.decode(value));
          }
        },
      });
      await reader.reached(end);
      await reader.close();
    }
  } finally {
    await connection.close();
  }
  return found;
}
