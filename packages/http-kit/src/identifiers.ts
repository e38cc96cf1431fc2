/** Makes the ids and keys that control gives out. */
import { createHash, randomBytes } from "node:crypto";

/** 160 random bits, five a character. */
const CHARACTERS = 32;

/** Lower-case dead letters and digits without the dead letters that are easily misread (i, l, o, u). */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Random text of `length` characters, five bits each. */
export function randomText(length: number): string {
  return textOf(randomBytes(length));
}

/** Five bits of each byte. */
function textOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

export type IdPrefix =
  | "src"
  | "dst"
  | "del"
  | "test"
  | "rpl"
  | "rsd"
  | "aud"
  | "sync"
  | "req"
  | "tok"
  | "link"
  | "ses"
  | "rcv";

/** Creates an id such as `src_4k2v…`: the prefix of the named thing's kind, then 80 random bits. */
export function createId(prefix: IdPrefix): string {
  return `${prefix}_${randomText(16)}`;
}

/** An id that the same texts always give, and other texts do not, as far as 80 bits can tell. */
export function derivedId(prefix: IdPrefix, ...texts: readonly string[]): string {
  const digest = createHash("sha256").update(JSON.stringify(texts)).digest();
  return `${prefix}_${textOf(digest.subarray(0, 16))}`;
}

/** A write key: 160 random bits. */
export function createWriteKey(): string {
  return randomText(32);
}

/** Draws a token. Its beginning identifies a token that is found where it should not be. */
export function createToken(): string {
  return `pht_${randomText(CHARACTERS)}`;
}

/** Draws the code of a sign-in link, which stands behind its `#`, or of a session's cookie. */
export function createCode(): string {
  return randomText(CHARACTERS);
}

/** The hash that is kept of a text. Random texts of 160 bits need no salt. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * A mark that tells a token of the environment from the one before: 16 bits of its SHA-256, too short to tell anything
 * of the token.
 */
export function adminMarkOf(token: string): string {
  return hashOf(token).slice(0, 4);
}
