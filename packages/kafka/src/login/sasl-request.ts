/**
 * The requests that a probe of the liveness watch sends (ApiVersions, SaslHandshake, SaslAuthenticate), as bytes, and
 * the readers of their answers. Pure.
 */

/** Bytes of the length that precedes each request and each answer. */
const LENGTH_BYTES = 4;
const CORRELATION_BYTES = 4;
const CLIENT_ID = "liveness";

const API_VERSIONS = 18;
const SASL_HANDSHAKE = 17;
const SASL_AUTHENTICATE = 36;

/** ApiVersions in version 0, which a SASL listener answers before a login too, but only once. */
export const API_VERSIONS_REQUEST = encodeRequest(API_VERSIONS, 0, []);

/** SaslHandshake in version 1: after it, the login's messages travel as SaslAuthenticate requests. */
export function encodeHandshake(mechanism: string): Buffer {
  return encodeRequest(SASL_HANDSHAKE, 1, [shortString(mechanism)]);
}

export interface HandshakeAnswer {
  /** Kafka's error code; 0 means no error. */
  readonly errorCode: number;
  /** The SASL mechanisms that the listener takes. */
  readonly mechanisms: readonly string[];
}

/** Throws a RangeError for bytes that end early. */
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

/** SaslAuthenticate in version 1 (Kafka 2.2), the first whose answer says how long the login lasts. */
export function encodeAuthenticate(message: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(message.length);
  return encodeRequest(SASL_AUTHENTICATE, 1, [length, message]);
}

export interface AuthenticateAnswer {
  readonly errorCode: number;
  /** The broker's own words for the error; empty when it sends none. */
  readonly words: string;
  readonly message: Buffer;
  /** Ms after which the broker wants another login; 0 means never. */
  readonly lifetimeMs: number;
}

/** Throws a RangeError for bytes that end early. */
export function decodeAuthenticate(answer: Buffer): AuthenticateAnswer {
  const errorCode = answer.readInt16BE(CORRELATION_BYTES);
  const wordsAt = CORRELATION_BYTES + 2 + 2;
  // A length of -1 means null.
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
