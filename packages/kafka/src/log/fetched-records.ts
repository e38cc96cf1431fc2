/** Turns one fetch's answer into records and the next offset to fetch. */

import type { FetchedPartition } from "../kafkajs/kafkajs-internals.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";

export interface FetchedRecords {
  readonly records: readonly IncomingRecord[];
  /** The offset to fetch next. It moves over offsets without records, which compaction and markers leave (C9). */
  readonly next: number;
}

/**
 * Reads the records of a fetch from `position`. A broker answers whole batches, so records below `position` may come
 * along, and the last batch may end with offsets whose records compaction removed.
 */
export function readFetched(topic: string, fetched: FetchedPartition, position: number): FetchedRecords {
  const { partition, messages, highWatermark } = fetched;
  const last = messages.at(-1);
  if (last === undefined) {
    // An empty answer below the log's end: the record at `position` is gone. The position moves by one, since a larger
    // step could pass over records that a larger answer would have brought.
    return { records: [], next: Number(highWatermark) > position ? position + 1 : position };
  }
  const records: IncomingRecord[] = [];
  for (const { offset, timestamp, key, value, headers, isControlRecord } of messages) {
    const at = Number(offset);
    if (at < position || isControlRecord) continue;
    records.push({ topic, partition, offset: at, timestampMs: Number(timestamp), key, value, headers });
  }
  const { firstOffset, lastOffsetDelta } = last.batchContext;
  return { records, next: Math.max(position, Number(last.offset) + 1, Number(firstOffset) + lastOffsetDelta + 1) };
}
