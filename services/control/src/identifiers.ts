/** Ids and keys that control makes up. */
import { randomBytes } from "node:crypto";

/** Lower-case letters and digits without those that are read as another (i, l, o, u). */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Random text of `length` characters, five bits each. */
function randomText(length: number): string {
  return Array.from(randomBytes(length), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

export type IdPrefix = "src" | "dst" | "del" | "test" | "rpl";

/** An id such as `src_4k2v…`: 80 random bits behind a prefix that says what it names. */
export function createId(prefix: IdPrefix): string {
  return `${prefix}_${randomText(16)}`;
}

/** A write key: 160 random bits. */
export function createWriteKey(): string {
  return randomText(32);
}
