/**
 * Copies a fetched record for a window (PI4 of partition-intake.ts). kafkajs's buffers are views of a whole fetch: a
 * single waiting record would keep megabytes alive that no limit counts.
 */
import type { IncomingHeaders } from "@posthaste/contracts/headers";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { KafkaMessage } from "kafkajs";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import type { TopicPartition } from "./rebalance.ts";

const NO_HEADERS: IncomingHeaders = Object.freeze({});

export function copiedRecord(message: KafkaMessage, { topic, partition }: TopicPartition): IncomingRecord {
  const { offset, timestamp, key, value, headers } = message;
  return {
    topic,
    partition,
    offset: Number(offset),
    timestampMs: Number(timestamp),
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    headers: headers === undefined ? NO_HEADERS : textHeaders(headers),
  };
}

/**
 * Headers as text, which all topics of this project use. A header that is not UTF-8, as another writer's may be, keeps
 * its bytes.
 */
function textHeaders(headers: IncomingHeaders): IncomingHeaders {
  let texts: Record<string, string | Buffer | (string | Buffer)[]> | null = null;
  for (const name in headers) {
    const value = headers[name];
    texts ??= {};
    if (Array.isArray(value)) texts[name] = value.map(textOrBytes);
    else if (value !== undefined) texts[name] = textOrBytes(value as string | Buffer);
  }
  return texts ?? NO_HEADERS;
}

function textOrBytes(value: string | Buffer): string | Buffer {
  if (typeof value === "string") return value;
  const text = value.toString();
  return text.includes("\ufffd") ? Buffer.from(value) : text;
}

/**
 * A PosthasteError with the place of the record that needs a schema that cannot be fetched. Any other error is returned
 * as it is.
 */
export function unreadable({ topic, partition, offset }: IncomingRecord, error: unknown): unknown {
  if (!isPosthasteError(error)) return error;
  const where = `offset ${offset} of ${topic} partition ${partition}`;
  return new PosthasteError(error.code, `${where} cannot be read: ${error.message}`, { cause: error });
}
