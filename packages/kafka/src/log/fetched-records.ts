/** From one fetch's answer to records and the next offset to ask for. */

import type { FetchedPartition } from "../kafkajs/kafkajs-internals.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";

export interface FetchedRecords {
  readonly records: readonly IncomingRecord[];
  /** The offset to fetch next; it rises past what compaction and markers left out (C9). */
  readonly next: number;
}

/**
 * Reads what a fetch from `position` brought. A broker answers whole batches, so records below `position` come along,
 * and the last batch may end with offsets that compaction took.
 */
export function readFetched(topic: string, fetched: FetchedPartition, position: number): FetchedRecords {
  const { partition, messages, highWatermark } = fetched;
  const last = messages.at(-1);
  if (last === undefined) {
    // An empty answer below the end: what stood here is gone. One step, since more than one could skip what a larger
    // answer would have brought.
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
