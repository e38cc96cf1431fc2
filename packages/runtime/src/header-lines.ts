/**
 * Bounds the header lines of a message. Node takes a thousand of them within the bytes that a head may have, and hands
 * over and keeps each: such a head took 1.2 ms, where a client's has some twenty lines.
 *
 * HL1  Of a head, or of trailers, with more than `MAX_HEADER_LINES` lines no request is made, and nothing more of its
 *      connection is parsed.
 */
import type { Socket } from "node:net";
import { type Parser, parserOf, stopParsing } from "./wire-pieces.ts";

export const MAX_HEADER_LINES = 128;

/** The code of the error that a server's `clientError` gets for a head with too many lines. */
export const TOO_MANY_HEADER_LINES = "TOO_MANY_HEADER_LINES";
export const HEADER_LINES_WORDS = `The request has more than ${MAX_HEADER_LINES} header lines; send fewer.`;

export class TooManyHeaderLinesError extends Error {
  override readonly name = "TooManyHeaderLinesError";
  readonly code = TOO_MANY_HEADER_LINES;

  constructor() {
    super(HEADER_LINES_WORDS);
  }
}

/** The key of the parser's call with some lines, which Node makes from the 33rd line on. */
const ON_LINES = 1;

interface LinesParser extends Parser {
  /** Names and values of the message so far. */
  readonly _headers: readonly string[];
  onIncoming: unknown;
}

/** Keyed by the connections that are bounded: a parser serves others after them, of a client too. */
const ON_TOO_MANY = new WeakMap<Socket, () => void>();
const BOUNDED = new WeakSet<Parser>();

/** Bounds a server's connection from its first message on; `onTooMany` is called once. */
export function boundHeaderLines(socket: Socket, onTooMany: () => void): void {
  const parser = parserOf(socket) as LinesParser | null;
  if (parser === null) return;
  ON_TOO_MANY.set(socket, onTooMany);
  if (BOUNDED.has(parser)) return;
  BOUNDED.add(parser);
  const onLines = parser[ON_LINES] as (lines: readonly string[], url: string) => void;
  parser[ON_LINES] = (lines: readonly string[], url: string) => {
    const { socket: its } = parser;
    const refuse = its === null ? undefined : ON_TOO_MANY.get(its);
    const isWithin = parser._headers.length + lines.length <= 2 * MAX_HEADER_LINES;
    if (its === null || refuse === undefined || isWithin) return onLines.call(parser, lines, url);
    ON_TOO_MANY.delete(its);
    stopParsing(its);
    // Node has the call at the end of a head in hand already where these are its last lines.
    parser.onIncoming = () => 0;
    refuse();
  };
}
