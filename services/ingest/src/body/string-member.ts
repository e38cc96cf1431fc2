/** Strings of a JSON object, read from the object's bytes, so that a refused body is searched without being parsed. */

/** The most bytes of a string as it is written, escapes included. */
const MAX_WRITTEN = 8 * 1024;
/** How many bytes of an object are searched from its beginning, and from its end. */
const LOOKED_AT = 4 * 1024;
/** How many places of one name are looked at from either side. */
const MAX_PLACES = 4;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

/** The string value of the name that ends before `nameEnd`; null where its value is no string, or too long. */
export function stringAfterName(body: Buffer, nameEnd: number): string | null {
  let at = afterBlanks(body, nameEnd);
  if (body[at] !== COLON) return null;
  at = afterBlanks(body, at + 1);
  if (body[at] !== QUOTE) return null;
  const end = endOfString(body, at);
  if (end === -1) return null;
  const literal = body.toString("utf8", at, end + 1);
  const text: unknown = literal.includes("\\") ? parsed(literal) : literal.slice(1, -1);
  return typeof text === "string" ? text : null;
}

/**
 * The string values of an object's own names. Only its first and last `LOOKED_AT` bytes are searched, since the object
 * may be as large as a request.
 */
export function ownStrings(object: Buffer, names: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const tail = object.subarray(Math.max(LOOKED_AT, object.length - LOOKED_AT));
  for (const name of names) {
    const quoted = Buffer.from(`"${name}"`);
    const head = object.subarray(0, LOOKED_AT);
    const value = lastOwn(tail, quoted) ?? firstOwn(head, quoted);
    if (value !== null) found[name] = value;
  }
  return found;
}

/** The value of the first place of the name in an object that begins with these bytes. */
function firstOwn(bytes: Buffer, name: Buffer): string | null {
  for (let at = bytes.indexOf(name), places = 0; at !== -1 && places < MAX_PLACES; places++) {
    const value = bytes[at - 1] === BACKSLASH ? null : stringAfterName(bytes, at + name.length);
    if (value !== null && depthOver(bytes, 0, at) === 1) return value;
    at = bytes.indexOf(name, at + name.length);
  }
  return null;
}

/** The value of the last place of the name in an object that ends with these bytes. */
function lastOwn(bytes: Buffer, name: Buffer): string | null {
  for (let at = bytes.lastIndexOf(name), places = 0; at !== -1 && places < MAX_PLACES; places++) {
    const value = bytes[at - 1] === BACKSLASH ? null : stringAfterName(bytes, at + name.length);
    if (value !== null && depthOver(bytes, at, bytes.length) === -1) return value;
    if (at === 0) return null;
    at = bytes.lastIndexOf(name, at - 1);
  }
  return null;
}

/** How many more objects and lists begin than end between two places outside of strings. */
function depthOver(bytes: Buffer, from: number, to: number): number {
  let depth = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth++;
    else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) depth--;
    else if (byte === QUOTE) {
      for (at++; at < to && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    }
  }
  return depth;
}

function afterBlanks(body: Buffer, start: number): number {
  let at = start;
  while (BLANKS.includes(body[at] ?? 0)) at++;
  return at;
}

/** The place of the closing quote of the string that begins at `start`; -1 when it is too far away. */
function endOfString(body: Buffer, start: number): number {
  const last = Math.min(body.length, start + MAX_WRITTEN);
  for (let at = start + 1; at < last; at++) {
    if (body[at] === BACKSLASH) at++;
    else if (body[at] === QUOTE) return at;
  }
  return -1;
}

function parsed(literal: string): unknown {
  try {
    return JSON.parse(literal);
  } catch {
    return null;
  }
}
