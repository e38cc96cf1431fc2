/** Reads one record of a topic by its partition and offset. */
import type { KafkaConnection } from "../connection/connect.ts";
import { withDeadline } from "../connection/deadline.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import { followLog } from "./log-reader.ts";

export interface RecordPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/**
 * Null when retention or compaction removed the record. Rejects with `deadline_exceeded` after `timeoutMs`, whatever it
 * waits for, and reads nothing more then.
 */
export async function readRecord(
  connection: KafkaConnection,
  { topic, partition, offset }: RecordPlace,
  timeoutMs: number,
): Promise<IncomingRecord | null> {
  const found = Promise.withResolvers<IncomingRecord | null>();
  const enough = new AbortController();
  const reading = followLog(connection, {
    ...{ topic, partition, from: offset, missingPatienceMs: timeoutMs, signal: enough.signal },
    onRecords: ([first]) => found.resolve(first?.offset === offset ? first : null),
    onFailure: found.reject,
  });
  reading.catch(found.reject);
  try {
    return await withDeadline(found.promise, timeoutMs, `reading a record of ${topic}`);
  } finally {
    enough.abort();
  }
}
