/** Texts that open something: drawn once, told once, kept as their SHA-256 alone. */
import { createHash } from "node:crypto";
import { randomText } from "../identifiers.ts";

/** 160 random bits, five a character. */
const CHARACTERS = 32;

/** A token, which says by its beginning what it is, for whoever finds one where it should not be. */
export function createToken(): string {
  return `pht_${randomText(CHARACTERS)}`;
}

/** What stands in a sign-in link behind its `#`, or in a session's cookie. */
export function createCode(): string {
  return randomText(CHARACTERS);
}

/** What is kept of a text. Random texts of 160 bits need no salt. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Tells a token of the environment from the one before it, and is too short to tell anything of the token: 16 bits of
 * its SHA-256.
 */
export function adminMarkOf(token: string): string {
  return hashOf(token).slice(0, 4);
}
