/**
 * Replaces each half of a surrogate pair by U+FFFD, since UTF-8 cannot write it, before the text becomes a key or an
 * id.
 */
export function toWellFormed(value: string): string {
  return value.toWellFormed();
}
