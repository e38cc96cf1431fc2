/**
 * Writes the body of a produce request into a single buffer of the needed size. The versions 3 to 7 of the request have
 * the same body.
 */
import { PosthasteError } from "@posthaste/core/errors";
import { ByteWriter } from "./byte-writer.ts";
import { type BatchRecord, type MeasuredBatch, measureBatch, writeBatch } from "./record-batch.ts";

/** The records of a topic by partition; within a partition they are in order. */
export interface ProduceTopic {
  readonly topic: string;
  readonly partitions: ReadonlyMap<number, readonly BatchRecord[]>;
}

export interface ProduceRequest {
  readonly topics: readonly ProduceTopic[];
  /** How long the broker waits for the in-sync replicas, in ms. */
  readonly timeoutMs: number;
  /** The time of all records, in ms since the epoch. */
  readonly nowMs: number;
}

/** The request is acknowledged when all in-sync replicas have the records (rule P4). */
const ACKS_ALL = -1;
const NO_TRANSACTION = -1;
/** Bytes of the transaction's id, the acks, the timeout and the count of topics. */
const HEAD_BYTES = 2 + 2 + 4 + 4;
/** Bytes of the length of the topic's name and of the count of partitions. */
const TOPIC_BYTES = 2 + 4;
/** Bytes of the partition's number and of the length of its batch. */
const PARTITION_BYTES = 4 + 4;

export function encodeProduceRequest({ topics, timeoutMs, nowMs }: ProduceRequest): Buffer {
  let bytes = HEAD_BYTES;
  const measured: (readonly [partition: number, batch: MeasuredBatch])[][] = [];
  for (const { topic, partitions } of topics) {
    bytes += TOPIC_BYTES + Buffer.byteLength(topic);
    const batches = Array.from(partitions, ([partition, records]) => [partition, measureBatch(records)] as const);
    for (const [, batch] of batches) bytes += PARTITION_BYTES + batch.bytes;
    measured.push(batches);
  }
  const writer = new ByteWriter(Buffer.allocUnsafe(bytes));
  writer.int16(NO_TRANSACTION).int16(ACKS_ALL).int32(timeoutMs).int32(topics.length);
  for (const [index, { topic, partitions }] of topics.entries()) {
    writer.int16(Buffer.byteLength(topic)).text(topic).int32(partitions.size);
    for (const [partition, batch] of measured[index] ?? []) {
      writer.int32(partition).int32(batch.bytes);
      writeBatch(writer, batch, nowMs);
    }
  }
  if (writer.offset !== bytes) {
    throw new PosthasteError("internal", `a produce request took ${writer.offset} bytes where ${bytes} were counted`);
  }
  return writer.target;
}
