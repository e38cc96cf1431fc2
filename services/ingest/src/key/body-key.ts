/**
 * The write keys that a body names, found in its bytes: whoever has no key that is known is refused before anything is
 * made of what it sent.
 *
 * BK1  The body's own key is among those that are found, wherever it stands: of a name that is repeated the last one
 *      counts, and a batch may name a key in each of its calls.
 * BK2  A few places are looked at and no more, however often the name stands there.
 * BK3  A key that is found may stand deeper than where it counts: finding a known key lets the body be parsed, and no
 *      more.
 */

const NAME = Buffer.from('"writeKey"');
/** Places that are looked at from the body's beginning, and as many from its end. */
const MAX_PLACES = 8;
/** Bytes of a key as it is written, with escapes. */
const MAX_WRITTEN_KEY = 8 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

/** Each key once, those that no source could have left out. */
export function findWriteKeys(body: Buffer): readonly string[] {
  const keys = new Set<string>();
  let at = body.indexOf(NAME);
  for (let places = 0; at !== -1 && places < MAX_PLACES; places++) {
    addKeyAt(body, at, keys);
    at = body.indexOf(NAME, at + NAME.length);
  }
  // The rest, of which the last ones count.
  if (at === -1) return [...keys];
  const first = at;
  at = body.lastIndexOf(NAME);
  for (let places = 0; at >= first && places < MAX_PLACES; places++) {
    addKeyAt(body, at, keys);
    at = body.lastIndexOf(NAME, at - 1);
  }
  return [...keys];
}

function addKeyAt(body: Buffer, nameAt: number, keys: Set<string>): void {
  let at = afterBlanks(body, nameAt + NAME.length);
  if (body[at] !== COLON) return;
  at = afterBlanks(body, at + 1);
  if (body[at] !== QUOTE) return;
  const end = endOfString(body, at);
  if (end === -1) return;
  const literal = body.toString("utf8", at, end + 1);
  const key: unknown = literal.includes("\\") ? parsed(literal) : literal.slice(1, -1);
  if (typeof key === "string" && key !== "") keys.add(key);
}

function afterBlanks(body: Buffer, start: number): number {
  let at = start;
  while (BLANKS.includes(body[at] ?? 0)) at++;
  return at;
}

/** The closing quote of the string that begins at `start`; -1 when it is too far away for a key. */
function endOfString(body: Buffer, start: number): number {
  const last = Math.min(body.length, start + MAX_WRITTEN_KEY);
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
