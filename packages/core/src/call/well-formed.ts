/** Refuses an id: two ids with halves of surrogate pairs would become one when UTF-8 writes them. */
export const ILL_FORMED_ID = "has half of a surrogate pair, so it is no well-formed text: send the whole character";

/** True of a text that UTF-8 can write as it is, and of a value that is no text. */
export function isWellFormedId(value: unknown): boolean {
  return typeof value !== "string" || value.isWellFormed();
}

/**
 * Replaces each half of a surrogate pair by U+FFFD, since UTF-8 cannot write it, before the text becomes a key.
 */
export function toWellFormed(value: string): string {
  return value.toWellFormed();
}
