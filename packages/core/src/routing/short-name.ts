/**
 * Names of users and of events, shortened so that each delivery can have them, and still told apart: a search for a
 * long name shortens it in the same way.
 */
import { type Hash64, hash64 } from "./hash64.ts";

/** In UTF-16 code units, as JavaScript counts. */
export const MAX_NAME_LENGTH = 256;

const HASH_DIGITS = 16;
/** The seed is fixed, so that every process, of every release, shortens a name to the same text. */
const SEED: Hash64 = { high: 0, low: 0 };

/**
 * A name of up to 256 characters as it is. Of a longer one the beginning, `~` and a hash of the whole: 256 characters
 * or, where the cut would split a surrogate pair, 255. The hash tells chance names apart, not those that somebody made
 * alike.
 */
export function shortName(name: string): string {
  if (name.length <= MAX_NAME_LENGTH) return name;
  const cut = MAX_NAME_LENGTH - HASH_DIGITS - 1;
  // The cut must not split a surrogate pair.
  const isHalf = (name.codePointAt(cut - 1) ?? 0) > 0xffff;
  return `${name.slice(0, isHalf ? cut - 1 : cut)}~${digits(hash64(SEED, name))}`;
}

function digits({ high, low }: Hash64): string {
  return `${high.toString(16).padStart(8, "0")}${low.toString(16).padStart(8, "0")}`;
}
