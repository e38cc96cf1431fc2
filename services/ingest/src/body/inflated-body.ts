/**
 * How much a compressed body may say for its size, before it is parsed.
 *
 * Compressed a thousandfold, six hundred bytes are 170,000 objects, which take 30 ms and 11 MB to parse. What takes
 * that is not the text but what is in it: so that is what is bounded, and repeated text is not.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const OPENING_BRACKET = 0x5b;
const COMMA = 0x2c;

/** Objects and arrays, by body and by byte of it as it was sent. */
const CONTAINERS = 1_024;
const CONTAINERS_A_BYTE = 16;
/** Commas outside of texts, the same: about as many as there are values. */
const COMMAS = 4_096;
const COMMAS_A_BYTE = 64;

/**
 * Whether a body says more than one may that was sent as so many bytes. Looks only at those that were compressed to a
 * thirtieth or less.
 */
export function saysTooMuch(content: Buffer, sentBytes: number): boolean {
  // So few bytes cannot hold more, since each object has two bytes at the least and each comma a value.
  if (content.length <= 2 * CONTAINERS_A_BYTE * sentBytes) return false;
  let containers = CONTAINERS + CONTAINERS_A_BYTE * sentBytes;
  let commas = COMMAS + COMMAS_A_BYTE * sentBytes;
  for (let at = 0; at < content.length; at++) {
    switch (content[at]) {
      case QUOTE:
        at = endOfString(content, at);
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        if (--containers < 0) return true;
        break;
      case COMMA:
        if (--commas < 0) return true;
        break;
      default:
    }
  }
  return false;
}

/** Where the string that begins at `start` has its closing quote; beyond the end where it has none. */
function endOfString(content: Buffer, start: number): number {
  let at = start + 1;
  while (at < content.length && content[at] !== QUOTE) at += content[at] === BACKSLASH ? 2 : 1;
  return at;
}
