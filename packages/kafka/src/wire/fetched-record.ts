/**
 * The records of a fetched batch. The fields of a record are read when somebody asks for them.
 *
 * kafkajs makes some fifteen objects for each record, and makes all objects of a fetch before it hands out the first
 * record. Here a record is a single object that knows its place in the batch's bytes.
 */
import { PosthasteError } from "@posthaste/core/errors";

/** The fields that the records of a batch share, under kafkajs's names. */
export interface BatchContext {
  /** The offset as text, like all of kafkajs's 64-bit numbers. */
  readonly firstOffset: string;
  readonly firstTimestamp: string;
  readonly maxTimestamp: string;
  /** With 1, the time of every record is the moment at which the broker wrote the batch. */
  readonly timestampType: number;
  readonly isControlBatch: boolean;
  readonly magicByte: number;
}

export type FetchedHeaders = Record<string, Buffer | Buffer[]>;

const LOG_APPEND_TIME = 1;
const NO_HEADERS: FetchedHeaders = Object.freeze({});

/** Reads numbers of variable length, one after the other. */
class Cursor {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  /** Reads a number in zigzag form, seven bits a byte. A number above 2^53 loses its last digits. */
  varint(): number {
    let byte = this.bytes[this.at++] ?? 0;
    if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1);
    let value = byte & 0x7f;
    for (let unit = 0x80; byte >= 0x80; unit *= 0x80) {
      byte = this.bytes[this.at++] ?? 0;
      value += (byte & 0x7f) * unit;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /**
   * Passes over a length and the bytes that it counts. Returns where those bytes begin, or -1 for null; they end at
   * `at`.
   */
  skipBytes(): number {
    const length = this.varint();
    if (length < 0) return -1;
    const start = this.at;
    this.at += length;
    return start;
  }

  readBytes(): Buffer | null {
    const start = this.skipBytes();
    return start < 0 ? null : this.bytes.subarray(start, this.at);
  }
}

/** A record with the fields that kafkajs's records have. Its buffers are views of the whole fetch's bytes. */
export class FetchedRecord {
  readonly batchContext: BatchContext;
  readonly attributes = 0;
  readonly #offset: number;
  readonly #timeMs: number;
  readonly #bytes: Buffer;
  readonly #keyStart: number;
  readonly #keyEnd: number;
  readonly #valueStart: number;
  readonly #valueEnd: number;

  constructor(batchContext: BatchContext, offset: number, timeMs: number, cursor: Cursor) {
    this.batchContext = batchContext;
    this.#offset = offset;
    this.#timeMs = timeMs;
    this.#bytes = cursor.bytes;
    this.#keyStart = cursor.skipBytes();
    this.#keyEnd = cursor.at;
    this.#valueStart = cursor.skipBytes();
    this.#valueEnd = cursor.at;
  }

  get offset(): string {
    return String(this.#offset);
  }

  /** The record's time in ms since the epoch, as text. */
  get timestamp(): string {
    return String(this.#timeMs);
  }

  get magicByte(): number {
    return this.batchContext.magicByte;
  }

  get isControlRecord(): boolean {
    return this.batchContext.isControlBatch;
  }

  get key(): Buffer | null {
    return this.#keyStart < 0 ? null : this.#bytes.subarray(this.#keyStart, this.#keyEnd);
  }

  get value(): Buffer | null {
    return this.#valueStart < 0 ? null : this.#bytes.subarray(this.#valueStart, this.#valueEnd);
  }

  /**
   * The headers by name, made anew each time. A name that comes twice has a list of values. A header without a value is
   * left out, since no caller's types know of such headers.
   */
  get headers(): FetchedHeaders {
    const cursor = new Cursor(this.#bytes, this.#valueEnd);
    const count = cursor.varint();
    if (count === 0) return NO_HEADERS;
    // Without a prototype, no header's name can be an inherited field's name.
    const headers: FetchedHeaders = Object.create(null);
    for (let index = 0; index < count; index += 1) {
      const name = String(cursor.readBytes());
      const value = cursor.readBytes();
      if (value === null) continue;
      const before = headers[name];
      if (before === undefined) headers[name] = value;
      else if (Array.isArray(before)) before.push(value);
      else headers[name] = [before, value];
    }
    return headers;
  }
}

/** Returns the `count` records that `bytes` hold from `start` on. Throws for bytes that are no records. */
export function readRecords(
  bytes: Buffer,
  start: number,
  count: number,
  context: BatchContext,
): readonly FetchedRecord[] {
  const firstOffset = Number(context.firstOffset);
  const firstTimeMs = Number(context.firstTimestamp);
  const sharedTimeMs = context.timestampType === LOG_APPEND_TIME ? Number(context.maxTimestamp) : null;
  const cursor = new Cursor(bytes, start);
  const records: FetchedRecord[] = [];
  for (let index = 0; index < count; index += 1) {
    const end = cursor.varint() + cursor.at;
    cursor.at += 1;
    const timeMs = cursor.varint() + firstTimeMs;
    const offset = cursor.varint() + firstOffset;
    const record = new FetchedRecord(context, offset, sharedTimeMs ?? timeMs, cursor);
    if (cursor.at >= end || end > bytes.length) {
      throw new PosthasteError("internal", `the batch at offset ${context.firstOffset} is no batch of records`);
    }
    records.push(record);
    cursor.at = end;
  }
  return records;
}
