/** Ids that are too long for a line, so that they are known again. The whole of it stands in a title, or is copied. */

/** As sources are told apart by their keys at a glance. */
const KEY = { head: 4, tail: 1 };
/** As much as a column holds; of a longer one, its ends. */
const MOST_ID = 16;
const ID = { head: 8, tail: 4 };
const URL_TEXT = { head: 31, tail: 8 };

/** `4k2v…9`; a key that control cut already, for a token that may only read, as it came. */
export function shortKey(key: string): string {
  return key.endsWith("…") ? key : shortened(key, KEY);
}

/** `6f1d2c8e…4c2d`, as a row of a list has it. */
export function shortId(id: string): string {
  return id.length <= MOST_ID ? id : shortened(id, ID);
}

/**
 * A URL among these: forty characters at the most, where it leads and its end, by which two of one host mostly differ.
 * Whole where another of them would look the same.
 */
export function shortUrl(url: string, all: readonly string[]): string {
  const short = shortened(url, URL_TEXT);
  return all.some((other) => other !== url && shortened(other, URL_TEXT) === short) ? url : short;
}

function shortened(text: string, { head, tail }: typeof KEY): string {
  return text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;
}
