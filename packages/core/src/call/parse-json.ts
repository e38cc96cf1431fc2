/**
 * `JSON.parse` without a fault of V8 13.6.
 *
 * V8's parser compares a key that is written with an escape, before it resolves the escape, with the key that it
 * expects from an object of the same shape, and takes that one when the letters agree: after `{"a":0,"\\":0}` the key
 * of `{"a":0,"\n":0}` comes out as a backslash (docs/decisions/2026-11-21-keys-with-a-backslash.md). So `parseJson`
 * first rewrites each such key without escapes. A key that cannot be written without one gets a stand-in, and the
 * parsed objects get the key back. Each pass is linear. Stand-ins cost several times as much as the parsed tree, so a
 * text may have `MAX_STAND_INS` of them.
 *
 * PJ1  No value that comes out nests deeper than `MAX_PARSED_NESTING`, whatever the text: deeper objects and arrays are
 *      null. So callers may walk and serialise the value without a check of its depth, and a call that nests too deep
 *      still nests deep enough to be refused.
 */
import { PosthasteError } from "../errors.ts";
import { MAX_NESTING } from "./json-fragment.ts";
import { hasNestingOver, limitNesting } from "./nesting.ts";
import { setOwn } from "./own-property.ts";

/** Matches from an escape in a string to the string's end, and to the colon behind it where the string is a key. */
const STRING_END = /[^"\\]*(?:\\[\s\S][^"\\]*)*"(?:[ \t\r\n]*:)?/y;
/** The characters that a string of JSON cannot hold without an escape. */
const NEEDS_ESCAPE = /["\\\p{Cc}]/u;
/**
 * Stand-ins begin with a run of this character that is longer than any run in the text, so that no real key looks like
 * one.
 */
const MARK = "\ue000";
const MARKS = /\ue000+/g;
/** Deeper than a call that is accepted may nest, with the envelope of a batch around it. */
export const MAX_PARSED_NESTING = 2 * MAX_NESTING;

/** The most keys of one text, each counted once, that hold a quote, a backslash or a control character. */
export const MAX_STAND_INS = 1_000;
const TOO_MANY = `more than ${MAX_STAND_INS} keys hold a quote, a backslash or a control character`;

/** How many more stand-ins may be made for texts that are parsed one by one and belong together. */
export interface StandInBudget {
  left: number;
}

/**
 * Parses as `JSON.parse` does, but cuts the value off where it is too deep (PJ1). Throws its SyntaxError, and
 * `invalid_input` when the texts that are parsed with the same `budget` have more than `MAX_STAND_INS` keys that need a
 * stand-in.
 */
export function parseJson(text: string, budget: StandInBudget = { left: MAX_STAND_INS }): unknown {
  const written = text.includes("\\") ? writeKeysOut(text, budget) : null;
  const value = parseWritten(text, written);
  if (hasNestingOver(text, MAX_PARSED_NESTING)) limitNesting(value, MAX_PARSED_NESTING);
  return written === null || written.names.length === 0 ? value : restoreNames(value, written);
}

function parseWritten(text: string, written: WrittenOut | null): unknown {
  if (written === null) return JSON.parse(text);
  try {
    return JSON.parse(written.text);
  } catch {
    // Parses the original text again for an error with the right position.
    return JSON.parse(text);
  }
}

interface WrittenOut {
  readonly text: string;
  /** The keys that have a stand-in; the number in a stand-in is the key's index. */
  readonly names: readonly string[];
  readonly mark: string;
}

/**
 * The text with no key escaped; null when no key is, or when the text is no JSON. Looks only at strings with an escape.
 */
function writeKeysOut(text: string, budget: StandInBudget): WrittenOut | null {
  let rewritten = "";
  /** The stand-in for each key, by the key as the text writes it. */
  const writtenFor = new Map<string, string>();
  const standIns = new Map<string, string>();
  const names: string[] = [];
  let mark: string | null = null;
  let done = 0;
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", STRING_END.lastIndex)) {
    STRING_END.lastIndex = at;
    if (!STRING_END.test(text)) return null;
    const end = STRING_END.lastIndex;
    if (text[end - 1] !== ":") continue;
    const open = text.lastIndexOf('"', at);
    const close = text.lastIndexOf('"', end - 1);
    if (open < done) return null;
    mark ??= unusedMark(text);
    const literal = text.slice(open, close + 1);
    let written = writtenFor.get(literal);
    if (written === undefined) {
      const key = unescaped(literal);
      if (key === null) return null;
      written = key;
      if (NEEDS_ESCAPE.test(key) || key.includes(mark)) {
        // A key that comes again in other escapes gets the same stand-in, so that its last value counts.
        const standIn = standIns.get(key);
        if (standIn === undefined && --budget.left < 0) throw new PosthasteError("invalid_input", TOO_MANY);
        written = standIn ?? `${mark}${names.push(key) - 1}`;
        standIns.set(key, written);
      }
      writtenFor.set(literal, written);
    }
    rewritten += `${text.slice(done, open + 1)}${written}"`;
    done = close + 1;
  }
  if (mark === null) return null;
  return { text: rewritten + text.slice(done), names, mark };
}

function unescaped(literal: string): string | null {
  try {
    const key: unknown = JSON.parse(literal);
    return typeof key === "string" ? key : null;
  } catch {
    return null;
  }
}

function unusedMark(text: string): string {
  let longest = 0;
  for (const [run] of text.matchAll(MARKS)) longest = Math.max(longest, run.length);
  return MARK.repeat(longest + 1);
}

/** Returns the value with the keys that stand-ins were parsed for. */
function restoreNames(value: unknown, written: WrittenOut): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) {
      if (typeof inner === "object" && inner !== null) value[index] = restoreNames(inner, written);
    }
    return value;
  }
  const object: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const inner = (value as Readonly<Record<string, unknown>>)[key];
    setOwn(object, nameOf(key, written), restoreNames(inner, written));
  }
  return object;
}

function nameOf(key: string, { names, mark }: WrittenOut): string {
  return key.startsWith(mark) ? (names[Number(key.slice(mark.length))] ?? key) : key;
}
