/**
 * Pieces of a caller's JSON as text.
 *
 * JF1  A fragment is an output of `JSON.stringify` for a value that `JSON.parse` made, so it is a fixed point: parsing
 *      and stringifying it again gives the same text, and joining fragments by plain keys gives a fixed point again.
 * JF2  Nothing nests deeper than `MAX_NESTING`, so no reader downstream, ours or a receiver's, runs out of stack.
 */

import { hasNestingOver } from "./nesting.ts";

/** An object out of `JSON.parse`. A key `__proto__` is an own property of it and must be copied as one. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Objects and arrays in one another, the call itself included. 100 is what the strictest common JSON parsers take. */
export const MAX_NESTING = 100;

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
