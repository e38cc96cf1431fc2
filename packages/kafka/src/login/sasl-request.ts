/**
 * The requests of a broker probe, byte for byte, and their answers: ApiVersions, SaslHandshake, SaslAuthenticate. Pure.
 */

/** What stands in front of each request, and of each answer. */
const LENGTH_BYTES = 4;
const CORRELATION_BYTES = 4;
const CLIENT_ID = "liveness";

const API_VERSIONS = 18;
const SASL_HANDSHAKE = 17;
const SASL_AUTHENTICATE = 36;

/** Version 0; brokers answer it before a login too, once. */
export const API_VERSIONS_REQUEST = encodeRequest(API_VERSIONS, 0, []);

/** Version 1, behind which the login's messages go as SaslAuthenticate. */
export function encodeHandshake(mechanism: string): Buffer {
  return encodeRequest(SASL_HANDSHAKE, 1, [shortString(mechanism)]);
}

export interface HandshakeAnswer {
  /** Kafka's; 0 is none. */
  readonly errorCode: number;
  /** Mechanisms that the listener takes. */
  readonly mechanisms: readonly string[];
}

/** Throws for bytes that end early. */
export function decodeHandshake(answer: Buffer): HandshakeAnswer {
  const mechanisms: string[] = [];
  let at = CORRELATION_BYTES + 2 + 4;
  for (let left = answer.readInt32BE(CORRELATION_BYTES + 2); left > 0; left -= 1) {
    const end = at + 2 + answer.readInt16BE(at);
    mechanisms.push(answer.toString("utf8", at + 2, end));
    at = end;
  }
  return { errorCode: answer.readInt16BE(CORRELATION_BYTES), mechanisms };
}

/** Version 1, from Kafka 2.2 on: the first that tells how long the login lasts. */
export function encodeAuthenticate(message: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(message.length);
  return encodeRequest(SASL_AUTHENTICATE, 1, [length, message]);
}

export interface AuthenticateAnswer {
  readonly errorCode: number;
  /** The broker's words about the error; empty when it has none. */
  readonly words: string;
  readonly message: Buffer;
  /** Ms after which the broker wants another login; 0 is never. */
  readonly lifetimeMs: number;
}

/** Throws for bytes that end early. */
export function decodeAuthenticate(answer: Buffer): AuthenticateAnswer {
  const errorCode = answer.readInt16BE(CORRELATION_BYTES);
  const wordsAt = CORRELATION_BYTES + 2 + 2;
  // A length of -1 is null.
  const wordsEnd = wordsAt + Math.max(0, answer.readInt16BE(wordsAt - 2));
  const messageAt = wordsEnd + 4;
  const messageEnd = messageAt + Math.max(0, answer.readInt32BE(wordsEnd));
  return {
    errorCode,
    words: answer.toString("utf8", wordsAt, wordsEnd),
    message: answer.subarray(messageAt, messageEnd),
    lifetimeMs: Number(answer.readBigInt64BE(messageEnd)),
  };
}

function encodeRequest(apiKey: number, version: number, body: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(LENGTH_BYTES + 2 + 2 + CORRELATION_BYTES);
  head.writeInt16BE(apiKey, LENGTH_BYTES);
  head.writeInt16BE(version, LENGTH_BYTES + 2);
  const request = Buffer.concat([head, shortString(CLIENT_ID), ...body]);
  request.writeInt32BE(request.length - LENGTH_BYTES, 0);
  return request;
}

function shortString(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
