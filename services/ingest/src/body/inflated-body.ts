/**
 * How much a compressed body may say for its size, before it is parsed, and how much may be made of it.
 *
 * Compressed a thousandfold, six hundred bytes are 170,000 objects, which take 30 ms and 11 MB to parse, or thousands
 * of calls that differ in nothing, each of which costs what any call does. What takes that is not the text but what is
 * in it: so that is what is bounded, and repeated text is not.
 */
import { isAscii } from "node:buffer";
import { MAX_EXPANDED_BYTES } from "../limits.ts";
import { endOfDigits, StringScan } from "./string-scan.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Objects and arrays, by body and by byte of it as it was sent. */
const CONTAINERS = 1_024;
const CONTAINERS_A_BYTE = 16;
/**
 * Commas outside of texts, the same: about as many as there are values. A text with escapes counts as one more, and a
 * key with escapes as `ESCAPED_KEY`: to write such out costs as much as that many values.
 */
const COMMAS = 4_096;
const COMMAS_A_BYTE = 8;
const ESCAPED_KEY = 8;
/** Escapes in texts, the same: half of a surrogate pair takes a quarter of a microsecond to read and write again. */
const ESCAPES = 4_096;
const ESCAPES_A_BYTE = 8;
/**
 * Digits and blanks outside of texts, the same: brotli says half a megabyte of them in 71 bytes, and a number is looked
 * through again before it is parsed. Calls that differ in their ids, written with four blanks a level, have 17 to 19.
 */
const DIGITS = 32 * 1024;
const DIGITS_A_BYTE = 512;
/** Calls, the same: two that differ in their ids differ in more bytes than this allows for one. */
const CALLS = 128;
const CALLS_A_BYTE = 1 / 4;
/**
 * As many integrations beside a batch's calls cost in each of them what a call costs: an event has them as a map, which
 * is written key by key and copied where a call has some itself.
 */
const SHARED_INTEGRATIONS = 16;
/** What a refused call counts as: the reason against it is made, and the call is written again to be kept. */
export const REFUSED_CALL = 3;
/** Bytes beside a batch's calls, the same: they are parsed and written in one piece, to be measured. */
const BESIDE = 32 * 1024;
const BESIDE_A_BYTE = 64;
/**
 * What a body may have of these together, each as its share of what it may be: whoever has all that may be of one has
 * little of the others, and all of it at once costs what each of them does.
 */
const SHARES_TOGETHER = 1.6;
/** Bytes of the events that a batch becomes, the same: what stands beside its calls stands in each of them. */
const EXPANDED_BYTES = 256 * 1024;
const EXPANDED_A_BYTE = 512;
/**
 * What brotli becomes, the same: no client that is known sends it, and half a megabyte of text is 70 bytes of it. A
 * real client's batch was seen to be 337 times its size. Of gzip the same holds for what is not ASCII: its text has two
 * bytes a letter, and is parsed and written at half the speed.
 */
const BROTLI = 64 * 1024;
const BROTLI_A_BYTE = 336;
/** Letters of refused calls, the same: they are written again to be kept. */
const REFUSED = 64 * 1024;
const REFUSED_A_BYTE = 256;

/**
 * The calls that a batch may have that was sent as so many bytes. `sharedIntegrations`: how many destinations it
 * switches on or off for all of them.
 */
export function mostCalls(sentBytes: number, sharedIntegrations = 0): number {
  return (CALLS + CALLS_A_BYTE * sentBytes) / (1 + sharedIntegrations / SHARED_INTEGRATIONS);
}

/** The bytes of events that it may become. */
export function mostExpandedBytes(sentBytes: number): number {
  return Math.min(MAX_EXPANDED_BYTES, EXPANDED_BYTES + EXPANDED_A_BYTE * sentBytes);
}

/** The bytes that may stand beside its calls. */
export function mostBesideCalls(sentBytes: number): number {
  return BESIDE + BESIDE_A_BYTE * sentBytes;
}

/** The bytes that brotli may become, and anything that is not ASCII. */
export function mostOfBrotli(sentBytes: number): number {
  return BROTLI + BROTLI_A_BYTE * sentBytes;
}

/** The UTF-16 units that may be kept of its refused calls. */
export function mostRefusedLength(sentBytes: number): number {
  return REFUSED + REFUSED_A_BYTE * sentBytes;
}

/**
 * Whether a body says more than one may that was sent as so many bytes. Looks only at those that were compressed to a
 * thirtieth or less.
 */
export function saysTooMuch(content: Buffer, sentBytes: number): boolean {
  // So few bytes cannot hold more, since each object has two bytes at the least and each comma a value.
  if (content.length <= 2 * CONTAINERS_A_BYTE * sentBytes) return false;
  if (content.length > mostOfBrotli(sentBytes) && !isAscii(content)) return true;
  const most = mostOf(sentBytes);
  let { containers, commas, escapes, digits, calls } = most;
  let end: number;
  let depth = 0;
  /** Within a list of the body's own object, which its calls are. */
  let isList = false;
  const strings = new StringScan(content);
  for (let at = 0; at < content.length; at++) {
    switch (content[at]) {
      case QUOTE:
        at = strings.next(at + 1);
        if (content[at] !== BACKSLASH) break;
        for (; content[at] === BACKSLASH; at = strings.next(at + 2)) {
          if (--escapes < 0) return true;
        }
        commas -= isKey(content, at) ? ESCAPED_KEY : 1;
        if (commas < 0) return true;
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        if (--containers < 0) return true;
        if (++depth === 2) isList = content[at] === OPENING_BRACKET;
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth--;
        break;
      case COMMA:
        if (--commas < 0 || (depth === 2 && isList && --calls < 1)) return true;
        break;
      default:
        end = endOfDigits(content, at, Math.min(content.length, at + digits + 1));
        digits -= end - at;
        if (digits < 0) return true;
        at = Math.max(at, end - 1);
    }
  }
  const left = { containers, commas, escapes, digits, calls };
  return sharesOf(most, left) > SHARES_TOGETHER;
}

/** What is counted of a body's content. */
type Counts = Readonly<Record<"containers" | "commas" | "escapes" | "digits" | "calls", number>>;

/** What a body may have that was sent as so many bytes. */
function mostOf(sentBytes: number): Counts {
  return {
    containers: CONTAINERS + CONTAINERS_A_BYTE * sentBytes,
    commas: COMMAS + COMMAS_A_BYTE * sentBytes,
    escapes: ESCAPES + ESCAPES_A_BYTE * sentBytes,
    digits: DIGITS + DIGITS_A_BYTE * sentBytes,
    calls: mostCalls(sentBytes),
  };
}

/** What was used of all that a body may have: 1 for all of one kind. */
function sharesOf(most: Counts, left: Counts): number {
  const kinds = Object.keys(most) as (keyof Counts)[];
  return kinds.reduce((sum, kind) => sum + 1 - left[kind] / most[kind], 0);
}

/** Whether the text whose closing quote is there is a key. */
function isKey(content: Buffer, closingQuote: number): boolean {
  return content[endOfDigits(content, closingQuote + 1, content.length)] === COLON;
}
