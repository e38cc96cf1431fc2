/**
 * Fragments: pieces of a caller's JSON as text.
 *
 * JF1  A fragment is the output of `JSON.stringify` for a value of `JSON.parse`, so it is a fixed point: parsing it and
 *      stringifying the value gives the same text. An object that is joined from plain keys and fragments is a fragment
 *      too.
 * JF2  No fragment nests deeper than `MAX_NESTING`, so that no reader of it, ours or a receiver's, runs out of stack.
 */

import { hasNestingOver } from "./nesting.ts";

/**
 * An object that `JSON.parse` made. It may have a key `__proto__` of its own, which must be copied as an own property.
 */
export type JsonObject = Readonly<Record<string, unknown>>;

/** How deep a call may nest objects and arrays, its own object included. The strictest common JSON parsers take 100. */
export const MAX_NESTING = 100;

/** True for a JSON object: neither null nor an array. */
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
  return hasNestingOver(text, levels) ? null : text;
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
