/** Texts that open something: each is drawn once, shown once, and kept as its SHA-256 alone. */
import { createHash } from "node:crypto";
import { randomText } from "./identifiers.ts";

/** 160 random bits, five a character. */
const CHARACTERS = 32;

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
