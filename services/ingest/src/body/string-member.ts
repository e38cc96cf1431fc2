/** A string of a JSON object, read from the object's bytes: what is refused is looked into without being parsed. */

/** Bytes of a string as it is written, with escapes. */
const MAX_WRITTEN = 8 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

/** The string that the name which ends before `nameEnd` has as its value; null where that is no string, or too long. */
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

function afterBlanks(body: Buffer, start: number): number {
  let at = start;
  while (BLANKS.includes(body[at] ?? 0)) at++;
  return at;
}

/** The closing quote of the string that begins at `start`; -1 when it is too far away. */
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
