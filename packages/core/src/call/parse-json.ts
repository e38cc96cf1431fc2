/**
 * `JSON.parse`, but for a fault of V8 13.6 that it goes round.
 *
 * That parser compares a key that is written with an escape, before the escape is resolved, with the key that it
 * expects from an object of the same shape, and takes that one when the letters agree: after `{"a":0,"\\":0}` the key
 * of `{"a":0,"\n":0}` comes out as a backslash (docs/decisions/2026-11-21-keys-with-a-backslash.md). So the parser
 * never gets to see such a key: it is written out before, and where it cannot stand without an escape a stand-in is
 * parsed in its place and replaced afterwards. Each of the passes is linear. Stand-ins cost several times what the tree
 * does, so that a text may have `MAX_STAND_INS` of them.
 *
 * PJ1  Nothing that comes out nests deeper than `MAX_PARSED_NESTING`, whatever came in: what stands deeper is null. So
 *      it may be serialised and walked without a thought of its depth, and what is refused for it is still deep enough
 *      to be.
 */
import { PosthasteError } from "../errors.ts";
import { MAX_NESTING } from "./json-fragment.ts";
import { hasNestingOver, limitNesting } from "./nesting.ts";
import { setOwn } from "./own-property.ts";

/** From within a string to its end, and to the colon after it where it is a key: no other string stands before one. */
const STRING_END = /[^"\\]*(?:\\[\s\S][^"\\]*)*"(?:[ \t\r\n]*:)?/y;
/** What cannot stand in a string of JSON without an escape. */
const NEEDS_ESCAPE = /["\\\p{Cc}]/u;
/** Stand-ins begin with a run of these that is longer than any in the text, so that no key that is written out does. */
const MARK = "\ue000";
const MARKS = /\ue000+/g;
/** Deeper than a call that is accepted, with what may stand around it. */
export const MAX_PARSED_NESTING = 2 * MAX_NESTING;

/** Keys of one text, each counted once, in which a quote, a backslash or a control character stands. */
export const MAX_STAND_INS = 1_000;
const TOO_MANY = `more than ${MAX_STAND_INS} keys hold a quote, a backslash or a control character`;

/** How many stand-ins texts may still have that are parsed one by one and belong together. */
export interface StandInRoom {
  left: number;
}

/**
 * What `JSON.parse` should answer, cut off where it is too deep (PJ1); throws its SyntaxError, and `invalid_input` for
 * more than `MAX_STAND_INS` such keys, in all texts that are parsed with the same room.
 */
export function parseJson(text: string, room: StandInRoom = { left: MAX_STAND_INS }): unknown {
  const written = text.includes("\\") ? writeKeysOut(text, room) : null;
  const value = parseWritten(text, written);
  if (hasNestingOver(text, MAX_PARSED_NESTING)) limitNesting(value, MAX_PARSED_NESTING);
  return written === null || written.names.length === 0 ? value : restoreNames(value, written);
}

function parseWritten(text: string, written: WrittenOut | null): unknown {
  if (written === null) return JSON.parse(text);
  try {
    return JSON.parse(written.text);
  } catch {
    // For the error, whose place is that of the text as it came.
    return JSON.parse(text);
  }
}

interface WrittenOut {
  readonly text: string;
  /** The keys that have a stand-in, by the number in it. */
  readonly names: readonly string[];
  readonly mark: string;
}

/** The text with no key escaped; null when none is, or when it is no JSON. Looks only at strings with an escape. */
function writeKeysOut(text: string, room: StandInRoom): WrittenOut | null {
  let rewritten = "";
  /** What is written for a key as it stood there. */
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
        // Of a key that is repeated in other escapes the last one counts, so they have one stand-in.
        const standIn = standIns.get(key);
        if (standIn === undefined && --room.left < 0) throw new PosthasteError("invalid_input", TOO_MANY);
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

/** Puts the keys back that a stand-in was parsed for. */
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
