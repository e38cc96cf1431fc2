/**
 * Pieces of a caller's JSON as text.
 *
 * JF1  A fragment is an output of `JSON.stringify` for a value that `JSON.parse` made, so it is a fixed point: parsing
 *      and stringifying it again gives the same text, and joining fragments by plain keys gives a fixed point again.
 * JF2  Nothing nests deeper than `MAX_NESTING`, so no reader downstream, ours or a receiver's, runs out of stack.
 */

/** An object out of `JSON.parse`. A key `__proto__` is an own property of it and must be copied as one. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Objects and arrays in one another, the call itself included. 100 is what the strictest common JSON parsers take. */
export const MAX_NESTING = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;

/** True for what JSON calls an object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const NO_FIELDS: JsonObject = {};

/** The value where it is an object, and an empty object otherwise. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : NO_FIELDS;
}

/**
 * The fragment of a parsed value, or null when it nests deeper than `levels`. Numbers beyond a double's range come out
 * as `null`, as `JSON.stringify` has it.
 */
export function toFragment(value: unknown, levels: number): string | null {
  const text = stringify(value);
  if (text === null) return null;
  return hasMoreOpeningsThan(text, levels) && nestsDeeperThan(text, levels) ? null : text;
}

/** `JSON.stringify` recurses and throws where the stack ends, at some thousands of levels. */
function stringify(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** A cheap bound that nearly every call passes: what nests `levels` deep opens as many brackets. */
function hasMoreOpeningsThan(text: string, levels: number): boolean {
  let openings = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      openings++;
      if (openings > levels) return true;
    }
  }
  return false;
}

/** By the brackets outside of strings: a walk over the value costs many times as much where it is made of little. */
function nestsDeeperThan(text: string, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        depth++;
        if (depth > levels) return true;
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth--;
        break;
      default:
    }
  }
  return false;
}

/** Where the string that begins at `start` has its closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
