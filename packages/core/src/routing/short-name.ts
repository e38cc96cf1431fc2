/**
 * Names that people and programs choose (of users and of events), short enough to be kept beside each delivery and
 * still told apart: whoever looks for a long one shortens it in the same way.
 */
import { type Hash64, hash64 } from "./hash64.ts";

/** In UTF-16 code units, as JavaScript counts. */
export const MAX_NAME_LENGTH = 256;

const HASH_DIGITS = 16;
/** Fixed, so that every process, and every release, shortens a name to the same text. */
const SEED: Hash64 = { high: 0, low: 0 };

/**
 * A name of up to 256 characters as it is; of a longer one the beginning, `~` and a hash of the whole, 256 characters
 * or, where a surrogate pair stands at the cut, 255. The hash tells accidents apart, no ill will.
 */
export function shortName(name: string): string {
  if (name.length <= MAX_NAME_LENGTH) return name;
  const cut = MAX_NAME_LENGTH - HASH_DIGITS - 1;
  // Not between the halves of a surrogate pair.
  const isHalf = (name.codePointAt(cut - 1) ?? 0) > 0xffff;
  return `${name.slice(0, isHalf ? cut - 1 : cut)}~${digits(hash64(SEED, name))}`;
}

function digits({ high, low }: Hash64): string {
  return `${high.toString(16).padStart(8, "0")}${low.toString(16).padStart(8, "0")}`;
}
