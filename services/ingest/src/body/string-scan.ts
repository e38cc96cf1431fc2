/**
 * Passes over the strings and numbers of JSON's bytes, of which there may be half a megabyte before anything is parsed.
 *
 * Owns: the place of the next quote, as far as it was searched.
 * - Each byte is looked at a bounded number of times, whatever strings and escapes there are: quotes are searched once
 *   from any place, and backslashes no further than to the next quote.
 */

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/**
 * The greatest byte of blanks, digits and the characters of numbers outside of strings; commas and quotes are lower
 * too.
 */
const NINE = 0x39;
/**
 * The bytes of a string that are looked at one by one: most strings end within them, and for a longer one `indexOf` is
 * thirty times as fast.
 */
const LOOKED_AT_FIRST = 128;

export class StringScan {
  readonly #body: Buffer;
  /** The next quote behind the place of the last search. */
  #quote = -1;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /**
   * The place of the first quote or backslash from `from` on, which is within a string; the body's length or more where
   * there is none.
   */
  next(from: number): number {
    const body = this.#body;
    const near = Math.min(body.length, from + LOOKED_AT_FIRST);
    let at = from;
    for (; at < near; at++) {
      const byte = body[at];
      if (byte === QUOTE || byte === BACKSLASH) return at;
    }
    return at < body.length ? this.#far(at) : at;
  }

  #far(from: number): number {
    const body = this.#body;
    if (this.#quote < from) {
      const quote = body.indexOf(QUOTE, from);
      this.#quote = quote === -1 ? body.length : quote;
    }
    const backslash = body.subarray(from, this.#quote).indexOf(BACKSLASH);
    return backslash === -1 ? this.#quote : from + backslash;
  }
}

/**
 * Where the blanks, digits and characters of numbers end that begin at `from`, outside of a string; `from` where there
 * are none. Looks no further than `to`. The loop does nothing else, since one number may be half a megabyte.
 */
export function endOfDigits(body: Buffer, from: number, to: number): number {
  let at = from;
  for (; at < to; at++) {
    const byte = body[at] ?? 0;
    if (byte > NINE || byte === COMMA || byte === QUOTE) break;
  }
  return at;
}
