/**
 * Asks for a topic's id by the Metadata request in version 10, the first version that says it; kafkajs ends at version
 * 6. The request has Kafka's "flexible" encoding: before a compact string or array stands its length plus one as an
 * unsigned varint, where 0 means null, and each structure ends with its tagged fields. This request sends none, and its
 * reader skips the tagged fields of the answer.
 */
import { PosthasteError } from "@posthaste/core/errors";

/** The version of the Metadata request; brokers have it from Kafka 2.8 on. */
export const TOPIC_ID_VERSION = 10;
const ID_BYTES = 16;
const NO_ID = Buffer.alloc(ID_BYTES);
const NO_TAGS = 0;

/** A topic as the answer names it. */
export interface NamedTopic {
  readonly name: string;
  /** Kafka's error code; 0 when the broker knows the topic. */
  readonly errorCode: number;
  /** The topic's id in base64url, as Kafka writes it; null in a cluster without topic ids. */
  readonly topicId: string | null;
}

/** Writes the bytes behind the header that kafkajs writes: the header's tagged fields, and the body. */
export function encodeTopicIdRequest(topics: readonly string[]): Buffer {
  return Buffer.concat([
    Buffer.of(NO_TAGS),
    unsignedVarint(topics.length + 1),
    ...topics.flatMap(encodeTopic),
    // The request asks the broker to create no topic, and not to list authorised operations.
    Buffer.of(0, 0, 0, NO_TAGS),
  ]);
}

/** Names the topic by its name, with no id. */
function encodeTopic(topic: string): readonly Buffer[] {
  const name = Buffer.from(topic);
  return [NO_ID, unsignedVarint(name.length + 1), name, Buffer.of(NO_TAGS)];
}

/** Reads the bytes behind the answer's correlation id. Throws `internal` for bytes that end early. */
export function decodeTopicIdAnswer(bytes: Buffer): readonly NamedTopic[] {
  const reader = new Reader(bytes);
  reader.skipTags();
  // Skips the throttle time.
  reader.skip(4);
  reader.array(() => {
    reader.skip(4);
    reader.skipBytes();
    reader.skip(4);
    reader.skipBytes();
    reader.skipTags();
  });
  // Skips the cluster's id and its controller.
  reader.skipBytes();
  reader.skip(4);
  return reader.array(() => readTopic(reader));
}

function readTopic(reader: Reader): NamedTopic {
  const errorCode = reader.int16();
  const name = reader.text();
  const id = reader.bytes(ID_BYTES);
  // Skips the byte that says whether the topic is internal.
  reader.skip(1);
  reader.array(() => {
    // Skips error, partition, leader and leader epoch, then three lists of replicas: all, in sync, offline.
    reader.skip(2 + 4 + 4 + 4);
    for (let list = 0; list < 3; list += 1) reader.array(() => reader.skip(4));
    reader.skipTags();
  });
  // Skips the authorised operations.
  reader.skip(4);
  reader.skipTags();
  return { name, errorCode, topicId: id.equals(NO_ID) ? null : id.toString("base64url") };
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  bytes(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.#bytes.length) throw new PosthasteError("internal", "an answer about topics ends early");
    const read = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return read;
  }

  skip(count: number): void {
    this.bytes(count);
  }

  int16(): number {
    return this.bytes(2).readInt16BE();
  }

  unsignedVarint(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 0x80) {
      const byte = this.bytes(1)[0] ?? 0;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    return this.bytes(Math.max(0, this.unsignedVarint() - 1)).toString();
  }

  /** Skips a compact string or bytes, which may be null. */
  skipBytes(): void {
    this.skip(Math.max(0, this.unsignedVarint() - 1));
  }

  array<T>(read: () => T): T[] {
    const members: T[] = [];
    for (let left = this.unsignedVarint() - 1; left > 0; left -= 1) members.push(read());
    return members;
  }

  skipTags(): void {
    for (let left = this.unsignedVarint(); left > 0; left -= 1) {
      this.unsignedVarint();
      this.skip(this.unsignedVarint());
    }
  }
}

function unsignedVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.of(...bytes, rest);
}
