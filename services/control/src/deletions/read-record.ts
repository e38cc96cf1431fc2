/** One record of a topic of one partition, by its offset. */

import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { followLog } from "@posthaste/kafka/log/log-reader";

export interface RecordPlace {
  readonly topic: string;
  readonly offset: number;
  readonly key: string;
  readonly timeoutMs: number;
}

/** Its value; null when compaction took it. Rejects with `deadline_exceeded`. */
export async function readRecord(
  connection: KafkaConnection,
  { topic, offset, key, timeoutMs }: RecordPlace,
): Promise<Buffer | null> {
  const found = Promise.withResolvers<Buffer | null>();
  const reading = followLog(connection, {
    ...{ topic, partition: 0, from: offset, missingPatienceMs: timeoutMs },
    onRecords: ([first]) => {
      const isIt = first?.offset === offset && first.key?.toString() === key;
      found.resolve(isIt ? first.value : null);
    },
    onFailure: found.reject,
  });
  reading.catch(found.reject);
  try {
    return await withDeadline(found.promise, timeoutMs, `reading a record of ${topic}`);
  } finally {
    reading.then((reader) => reader.close()).catch(() => undefined);
  }
}
