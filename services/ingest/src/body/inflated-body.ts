/**
 * How much a compressed body may hold for its size, before it is parsed, and how much may be made of it.
 *
 * Compressed a thousandfold, six hundred bytes are 170,000 objects, which take 30 ms and 11 MB to parse, or thousands
 * of equal calls, each of which costs as much as any other. The cost comes from the objects, values and calls, and not
 * from the text: so those are bounded, and repeated text is not.
 *
 * Each bound is a number for any body and a number more for each byte of the body as it was sent (`..._A_BYTE`).
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

/** Objects and arrays. */
const CONTAINERS = 1_024;
const CONTAINERS_A_BYTE = 16;
/**
 * Commas outside of strings, about as many as there are values. A string with escapes counts as one more, and a key
 * with escapes as `ESCAPED_KEY`: rewriting it costs as much as that many values.
 */
const COMMAS = 4_096;
const COMMAS_A_BYTE = 8;
const ESCAPED_KEY = 8;
/** Escapes in strings: half of a surrogate pair takes a quarter of a microsecond to read and write again. */
const ESCAPES = 4_096;
const ESCAPES_A_BYTE = 8;
/**
 * Digits and blanks outside of strings: brotli packs half a megabyte of them into 71 bytes, and a number is read twice
 * before it is parsed. Calls that differ in their ids, written with four blanks a level, have 17 to 19 for each byte.
 */
const DIGITS = 32 * 1024;
const DIGITS_A_BYTE = 512;
/** Calls: two that differ in their ids alone take more bytes than this bound asks for one. */
const CALLS = 128;
const CALLS_A_BYTE = 1 / 4;
/**
 * With this many integrations beside the calls, each call costs twice as much: an event has them as a map, which is
 * written key by key, and copied where a call has integrations of its own.
 */
const SHARED_INTEGRATIONS = 16;
/** How many calls a refused call counts as: its reason is made, and the call is written again to be kept. */
export const REFUSED_CALL = 3;
/** Bytes beside a batch's calls, which are parsed and written in one piece to be measured. */
const BESIDE = 32 * 1024;
const BESIDE_A_BYTE = 64;
/**
 * How much of these bounds a body may use together, each as a share of its bound: all of every bound at once would cost
 * the sum of them.
 */
const SHARES_TOGETHER = 1.6;
/** Bytes of the events that a batch becomes: the fields beside its calls stand in each of them. */
const EXPANDED_BYTES = 256 * 1024;
const EXPANDED_A_BYTE = 512;
/**
 * The content of a brotli body: no known client sends brotli, and half a megabyte of text is 70 bytes of it. A real
 * client's batch was seen to be 337 times its size. The bound holds for gzip too where the content is not ASCII: such
 * text has two bytes a letter, and is parsed and written at half the speed.
 */
const BROTLI = 64 * 1024;
const BROTLI_A_BYTE = 336;
/** UTF-16 units of refused calls, which are written again to be kept. */
const REFUSED = 64 * 1024;
const REFUSED_A_BYTE = 256;

/**
 * The most calls of a batch that was sent as `sentBytes`. `sharedIntegrations`: how many destinations it switches on or
 * off for all of them.
 */
export function mostCalls(sentBytes: number, sharedIntegrations = 0): number {
  return (CALLS + CALLS_A_BYTE * sentBytes) / (1 + sharedIntegrations / SHARED_INTEGRATIONS);
}

/** The most bytes of the events of a batch that was sent as `sentBytes`. */
export function mostExpandedBytes(sentBytes: number): number {
  return Math.min(MAX_EXPANDED_BYTES, EXPANDED_BYTES + EXPANDED_A_BYTE * sentBytes);
}

/** The most bytes beside the calls of a batch that was sent as `sentBytes`. */
export function mostBesideCalls(sentBytes: number): number {
  return BESIDE + BESIDE_A_BYTE * sentBytes;
}

/** The most bytes of the content of a brotli body, and of any content that is not ASCII. */
export function mostOfBrotli(sentBytes: number): number {
  return BROTLI + BROTLI_A_BYTE * sentBytes;
}

/** The most UTF-16 units that are kept of the refused calls of a batch that was sent as `sentBytes`. */
export function mostRefusedLength(sentBytes: number): number {
  return REFUSED + REFUSED_A_BYTE * sentBytes;
}

/**
 * Whether a body holds more than a body that was sent as `sentBytes` may. Looks only at a body that was compressed to
 * less than a thirty-second.
 */
export function saysTooMuch(content: Buffer, sentBytes: number): boolean {
  // So few bytes hold no more objects and arrays than they may, since each has two bytes, and at most about twice the
  // commas and escapes.
  if (content.length <= 2 * CONTAINERS_A_BYTE * sentBytes) return false;
  if (content.length > mostOfBrotli(sentBytes) && !isAscii(content)) return true;
  const most = mostOf(sentBytes);
  let { containers, commas, escapes, digits, calls } = most;
  let end: number;
  let depth = 0;
  /** Whether the scan is within a list of the body's own object, as its calls are. */
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

/** The counts of a body's content. */
type Counts = Readonly<Record<"containers" | "commas" | "escapes" | "digits" | "calls", number>>;

/** The bounds of a body that was sent as `sentBytes`. */
function mostOf(sentBytes: number): Counts {
  return {
    containers: CONTAINERS + CONTAINERS_A_BYTE * sentBytes,
    commas: COMMAS + COMMAS_A_BYTE * sentBytes,
    escapes: ESCAPES + ESCAPES_A_BYTE * sentBytes,
    digits: DIGITS + DIGITS_A_BYTE * sentBytes,
    calls: mostCalls(sentBytes),
  };
}

/** The sum of the shares that were used of each bound; 1 for all of one bound. */
function sharesOf(most: Counts, left: Counts): number {
  const kinds = Object.keys(most) as (keyof Counts)[];
  return kinds.reduce((sum, kind) => sum + 1 - left[kind] / most[kind], 0);
}

/** Whether the string that ends with this quote is a key. */
function isKey(content: Buffer, closingQuote: number): boolean {
  return content[endOfDigits(content, closingQuote + 1, content.length)] === COLON;
}
