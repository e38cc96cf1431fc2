/**
 * Whole numbers from 0 as text of 64 characters that any client may put into commit metadata: at a fixed width, or as
 * short as the number allows.
 */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Writes five bits a character, the lowest first; a digit of 32 or above says that another follows. */
export function varint(value: number): string {
  let text = "";
  let rest = value;
  while (rest >= 32) {
    text += DIGITS.charAt(32 + (rest % 32));
    rest = Math.floor(rest / 32);
  }
  return text + DIGITS.charAt(rest);
}

/** Writes six bits a character, the lowest first. The value must be below 64 to the power of `width`. */
export function fixed(value: number, width: number): string {
  let text = "";
  let rest = value;
  for (let at = 0; at < width; at += 1) {
    text += DIGITS.charAt(rest % 64);
    rest = Math.floor(rest / 64);
  }
  return text;
}

/** The least width that `fixed` writes the value in; 0 for 0. */
export function widthOf(value: number): number {
  let width = 0;
  for (let rest = value; rest > 0; rest = Math.floor(rest / 64)) width += 1;
  return width;
}

/**
 * Reads numbers from text, one after the other. It answers null at the end of the text, and where a number is cut off.
 */
export class DigitReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  varint(): number | null {
    let value = 0;
    for (let scale = 1; ; scale *= 32) {
      const digit = this.#next();
      if (digit === null) return null;
      value += (digit % 32) * scale;
      if (digit < 32) return value;
    }
  }

  fixed(width: number): number | null {
    let value = 0;
    for (let at = 0, scale = 1; at < width; at += 1, scale *= 64) {
      const digit = this.#next();
      if (digit === null) return null;
      value += digit * scale;
    }
    return value;
  }

  #next(): number | null {
    const digit = this.#at < this.#text.length ? DIGITS.indexOf(this.#text.charAt(this.#at)) : -1;
    this.#at += 1;
    return digit < 0 ? null : digit;
  }
}
