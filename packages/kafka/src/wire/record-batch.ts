/**
 * Writes uncompressed record batches in version 2 of Kafka's format: a producer writes one batch at a time to a
 * partition. The bytes are the same as kafkajs's. They are written once and in their place, where kafkajs takes a
 * buffer for each record and layer.
 */
import { type ByteWriter, varintBytes } from "./byte-writer.ts";
import { crc32c } from "./crc32c.ts";

/**
 * Headers by name. A repeated header has a list of values, and an undefined value means no header. Text is written as
 * UTF-8.
 */
export type OutgoingHeaders = Readonly<Record<string, HeaderValue | undefined>>;
type HeaderValue = string | Buffer | readonly (string | Buffer)[];

/** The fields of a record that a batch keeps. */
export interface BatchRecord {
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers?: OutgoingHeaders;
}

/** The records of a batch with the number of bytes of each, so that no record is measured twice. */
export interface MeasuredBatch {
  readonly records: readonly BatchRecord[];
  /** The bytes of each record, without the bytes of its own length. */
  readonly recordBytes: readonly number[];
  /** The bytes of the whole batch. */
  readonly bytes: number;
}

const MAGIC = 2;
/** Bytes of the first offset, the length, the leader epoch, the magic byte and the checksum. */
const PREFIX_BYTES = 8 + 4 + 4 + 1 + 4;
/**
 * Bytes of the attributes, the last offset's delta, the first and last time, the producer's id and epoch, the first
 * sequence number and the count of records.
 */
const HEAD_BYTES = 2 + 4 + 8 + 8 + 8 + 2 + 4 + 4;
/** Bytes that the batch's length does not count: the first offset and the length itself. */
const UNCOUNTED_BYTES = 8 + 4;
const CHECKSUM_BYTES = 4;
/** Bytes of a record's attributes and time delta, both 0. */
const RECORD_HEAD_BYTES = 1 + 1;
/** The id, epoch and sequence number of a producer without idempotence (rule P1). */
const NO_PRODUCER_ID = -1;

export function measureBatch(records: readonly BatchRecord[]): MeasuredBatch {
  const recordBytes: number[] = [];
  let bytes = PREFIX_BYTES + HEAD_BYTES;
  for (const record of records) {
    const own = measureRecord(record, recordBytes.length);
    recordBytes.push(own);
    bytes += varintBytes(own) + own;
  }
  return { records, recordBytes, bytes };
}

/** Writes the batch. Every record gets the time `nowMs`, in ms since the epoch. */
export function writeBatch(writer: ByteWriter, { records, recordBytes, bytes }: MeasuredBatch, nowMs: number): void {
  writer
    .int64(0)
    .int32(bytes - UNCOUNTED_BYTES)
    .int32(0)
    .int8(MAGIC);
  const checksumAt = writer.offset;
  writer.skip(CHECKSUM_BYTES);
  writer.int16(0).int32(records.length - 1);
  writer.int64(nowMs).int64(nowMs).int64(NO_PRODUCER_ID).int16(0).int32(0);
  writer.int32(records.length);
  for (const [index, record] of records.entries()) writeRecord(writer, record, index, recordBytes[index] ?? 0);
  writer.target.writeUInt32BE(crc32c(writer.target, checksumAt + CHECKSUM_BYTES, writer.offset), checksumAt);
}

function measureRecord({ key, value, headers }: BatchRecord, offsetDelta: number): number {
  let bytes = RECORD_HEAD_BYTES + varintBytes(offsetDelta) + bytesOf(key) + bytesOf(value);
  const entries = entriesOf(headers);
  for (const [name, header] of entries) bytes += textBytes(name) + textBytes(header);
  return bytes + varintBytes(entries.length);
}

function writeRecord(
  writer: ByteWriter,
  { key, value, headers }: BatchRecord,
  offsetDelta: number,
  bytes: number,
): void {
  writer.varint(bytes).int8(0).varint(0).varint(offsetDelta);
  writeBytes(writer, key);
  writeBytes(writer, value);
  const entries = entriesOf(headers);
  writer.varint(entries.length);
  for (const [name, header] of entries) {
    writeText(writer, name);
    writeText(writer, header);
  }
}

type HeaderEntry = readonly [name: string, value: string | Buffer];
const NO_ENTRIES: readonly HeaderEntry[] = [];

function entriesOf(headers: BatchRecord["headers"]): readonly HeaderEntry[] {
  if (headers === undefined) return NO_ENTRIES;
  const entries: HeaderEntry[] = [];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (typeof value === "string" || Buffer.isBuffer(value)) entries.push([name, value]);
    else for (const each of value ?? []) entries.push([name, each]);
  }
  return entries;
}

/** Counts a value's bytes and the bytes of its length; null is written as the length -1 alone. */
function bytesOf(value: Uint8Array | null): number {
  return value === null ? 1 : varintBytes(value.length) + value.length;
}

function writeBytes(writer: ByteWriter, value: Uint8Array | null): void {
  if (value === null) writer.varint(-1);
  else writer.varint(value.length).bytes(value);
}

function textBytes(text: string | Buffer): number {
  const bytes = Buffer.byteLength(text);
  return varintBytes(bytes) + bytes;
}

function writeText(writer: ByteWriter, text: string | Buffer): void {
  if (typeof text === "string") writer.varint(Buffer.byteLength(text)).text(text);
  else writer.varint(text.length).bytes(text);
}
