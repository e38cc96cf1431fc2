/** A compacted topic as any reader may come to fold it, without control and without our table. */
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { SILENT_LOG } from "@posthaste/core/log";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { followLog } from "@posthaste/kafka/log/log-reader";

export interface FoldedTopic {
  /** By key, of the record that compaction leaves: the last one. Keys whose last record removes them are left out. */
  readonly last: ReadonlyMap<string, number>;
  /** By key, of the record that a table goes by: the one of the greatest revision. The same are left out. */
  readonly newest: ReadonlyMap<string, number>;
}

interface Entry {
  readonly revision: number;
  readonly isRemoval: boolean;
}

/** Reads the present content of the topic: of each key the revision. */
export async function foldTopic(brokers: readonly string[], topic: string): Promise<FoldedTopic> {
  const connection = connectKafka({ brokers, clientId: "e2e", log: SILENT_LOG });
  const last = new Map<string, Entry>();
  const newest = new Map<string, Entry>();
  try {
    for (const { partition, end } of await topicOffsets(connection, topic)) {
      const reader = await followLog(connection, {
        ...{ topic, partition, from: "start", onFailure: () => {} },
        onRecords: (records) => {
          for (const { key, value, headers } of records) {
            const entry = { revision: Number(headers[REVISION_HEADER]), isRemoval: value === null };
            const id = String(key);
            last.set(id, entry);
            if (entry.revision >= (newest.get(id)?.revision ?? 0)) newest.set(id, entry);
          }
        },
      });
      await reader.reached(end);
      await reader.close();
    }
  } finally {
    await connection.close();
  }
  return { last: present(last), newest: present(newest) };
}

function present(entries: ReadonlyMap<string, Entry>): ReadonlyMap<string, number> {
  return new Map([...entries].filter(([, { isRemoval }]) => !isRemoval).map(([id, { revision }]) => [id, revision]));
}
