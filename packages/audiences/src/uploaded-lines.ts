/** An upload as lines of JSON, which is read as it comes, a batch at a time and never whole. */
import { isUtf8 } from "node:buffer";
import { traitValueInput, userIdInput } from "@posthaste/core/audience/audience-settings";
import { isJsonObject } from "@posthaste/core/call/json-fragment";
import { parseJson } from "@posthaste/core/call/parse-json";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import { LEAST_BYTES_PER_SECOND, PACE_AFTER_MS } from "@posthaste/http-kit/long-requests";
import { inputWords, invalidInput } from "@posthaste/http-kit/problem";
import type { z } from "zod";
import type { Said } from "./audience-sync.ts";

/** The most bytes of a line: the longest id and value fit, whatever their letters. */
const MAX_LINE_BYTES = 128 * 1024;
const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = "\ufeff";
/** The most users of a batch, and the most characters: one message to the membership's thread. */
const BATCH_USERS = 1000;
const BATCH_LENGTH = 256 * 1024;
/** An upload of which nothing comes for this long, in ms, has broken off. */
const STALL_MS = 30_000;

/** Parses a line. Throws the Problem `invalid_input`, which names the line. */
export type ParseLine = (line: string, lineNumber: number) => Said;

/**
 * Reads the lines of an upload in batches. Throws the Problem `invalid_input` for a line that cannot be read and for an
 * upload without users, `deadline_exceeded` for an upload that stalls or trickles, and the stream's error when it
 * breaks off.
 */
export async function* readSaid(chunks: AsyncIterable<Uint8Array>, parse: ParseLine): AsyncGenerator<readonly Said[]> {
  let lineNumber = 0;
  let users = 0;
  for await (const read of lines(chunks)) {
    const said: Said[] = [];
    for (const line of read) {
      lineNumber += 1;
      if (line.trim() !== "") said.push(parse(line, lineNumber));
    }
    users += said.length;
    yield* inBatches(said);
  }
  // A file that is empty by mistake must not empty an audience; blank lines name nobody either.
  if (users === 0)
    throw invalidInput([
      { path: "", message: "the upload is empty: to say that nobody is in it, send the JSON array []" },
    ]);
}

/** Divides users into batches, none of which is large. */
export function* inBatches(said: Iterable<Said>): Generator<readonly Said[]> {
  let batch: Said[] = [];
  let length = 0;
  for (const user of said) {
    batch.push(user);
    length += user[0].length + user[1].length;
    if (batch.length < BATCH_USERS && length < BATCH_LENGTH) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
}

/** An id that stands in a line as it is: nothing that JSON or CSV begins or divides by. A word of JSON is none. */
const PLAIN_ID = /^(?!(?:null|true|false)$)(?!-?\d)[^\s,;"'[\]{}\p{Cc}]+$/u;

/** Parses `user-7`, `"user-7"`, `17` or `{"userId": "user-7"}`: a user who is in an audience. */
export const parseMember: ParseLine = (line, lineNumber) => {
  const text = line.trim();
  const value = PLAIN_ID.test(text) ? text : valueIn(line, lineNumber);
  const userId = isJsonObject(value) ? value["userId"] : value;
  return [checked(userIdInput, userId, lineNumber), "true"];
};

/** Parses `{"userId": "user-7", "value": 12.5}`: a user's value of a computed trait. */
export const parseValue: ParseLine = (line, lineNumber) => {
  const fields = valueIn(line, lineNumber);
  if (!isJsonObject(fields) || !Object.hasOwn(fields, "value")) {
    throw atLine(lineNumber, 'expected an object such as {"userId": "user-7", "value": 12.5}');
  }
  return [checked(userIdInput, fields["userId"], lineNumber), checked(traitValueInput, fields["value"], lineNumber)];
};

/** The lines that end in each chunk, and at the end the rest behind the last line's end. */
async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  let rest: Uint8Array = new Uint8Array();
  let number = 0;
  for await (const chunk of untilStalled(chunks)) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(NEWLINE);
    rest = bytes.subarray(end + 1);
    if (end !== -1) {
      const ended = linesIn(bytes.subarray(0, end), number);
      number += ended.length;
      yield ended;
    }
    if (rest.length > MAX_LINE_BYTES) throw atLine(number + 1, `a line has at most ${MAX_LINE_BYTES} bytes`);
  }
  if (rest.length > 0) yield linesIn(rest, number);
}

/** The text of whole lines. Bytes that are not UTF-8 are refused, since two users could otherwise become one. */
function linesIn(bytes: Uint8Array, before: number): readonly string[] {
  const { buffer, byteOffset, byteLength } = bytes;
  const whole = Buffer.from(buffer, byteOffset, byteLength);
  if (isUtf8(whole)) {
    const text = whole.toString();
    return (before === 0 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text).split("\n");
  }
  let lineNumber = before + 1;
  for (let from = 0; ; lineNumber += 1) {
    const end = whole.indexOf(NEWLINE, from);
    if (end === -1 || !isUtf8(whole.subarray(from, end))) break;
    from = end + 1;
  }
  throw atLine(lineNumber, "is not UTF-8: save the file as UTF-8, or write the letter as \\u00e4");
}

/**
 * Passes chunks on. An upload holds its audience's lease from its first byte, so after `PACE_AFTER_MS` of waiting for
 * the caller it must have brought `LEAST_BYTES_PER_SECOND`. Throws `deadline_exceeded` when nothing comes for
 * `STALL_MS`, or when the upload trickles.
 */
async function* untilStalled(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let [waitedMs, bytes] = [0, 0];
  try {
    for (;;) {
      const askedAtMs = performance.now();
      const next = await beforeStall(iterator.next());
      if (next.done === true) return;
      waitedMs += performance.now() - askedAtMs;
      bytes += next.value.length;
      if (waitedMs >= PACE_AFTER_MS && bytes * 1000 < waitedMs * LEAST_BYTES_PER_SECOND) throw tooSlow();
      yield next.value;
    }
  } finally {
    // This is not awaited, since a stream that hangs does not end.
    Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

async function beforeStall<T>(next: Promise<T>): Promise<T> {
  const { promise: stalled, reject } = Promise.withResolvers<never>();
  const what = `nothing came of the upload for ${STALL_MS / 1000} seconds: nobody was changed`;
  const timer = setTimeout(() => reject(new PosthasteError("deadline_exceeded", what)), STALL_MS);
  return Promise.race([next, stalled]).finally(() => clearTimeout(timer));
}

function tooSlow(): Error {
  const seen = `the upload brought fewer than ${LEAST_BYTES_PER_SECOND} bytes a second for ${PACE_AFTER_MS / 60_000} minutes`;
  return new PosthasteError("deadline_exceeded", `${seen}: nobody was changed; send it from a file that is whole`);
}

function valueIn(line: string, lineNumber: number): unknown {
  try {
    return parseJson(line);
  } catch (error) {
    // The parser's own message would quote the line.
    if (isPosthasteError(error)) throw atLine(lineNumber, error.message);
    throw atLine(lineNumber, 'this is not JSON: write "user-7", with the quotes, or an object');
  }
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, lineNumber: number): z.output<Schema> {
  const result = schema.safeParse(value, { error: inputWords });
  if (result.success) return result.data;
  throw atLine(lineNumber, result.error.issues[0]?.message ?? "cannot be taken");
}

function atLine(lineNumber: number, message: string): Error {
  return invalidInput([{ path: `line ${lineNumber}`, message }]);
}
