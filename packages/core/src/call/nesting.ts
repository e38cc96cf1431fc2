/**
 * How deep JSON nests: objects and arrays in one another.
 *
 * Found in the text, which is linear. `JSON.stringify` looks at each object and array for all that it stands in, so
 * depth costs by the square, and a call of 17 KB of brackets took it 6 ms each time.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;

/** Whether more than so many objects and arrays stand in one another in a text that is JSON. */
export function hasNestingOver(text: string, levels: number): boolean {
  return hasMoreOpeningsThan(text, levels) && hasDeeper(text, levels);
}

/** Puts null in the place of each object and array that stands in `levels` others, which must be at least one. */
export function limitNesting(value: unknown, levels: number): void {
  if (typeof value !== "object" || value === null) return;
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const inner = members[key];
    if (typeof inner !== "object" || inner === null) continue;
    if (levels > 1) limitNesting(inner, levels - 1);
    // An own property in any case, also by the name of `__proto__`.
    else members[key] = null;
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
function hasDeeper(text: string, levels: number): boolean {
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

/** Most strings end sooner than a search by the system begins; a long one is passed over many times as fast by it. */
const LOOKED_AT_FIRST = 64;

/** Where the string that begins at `start` has its closing quote. Linear: no backslash is counted for two quotes. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    const near = Math.min(text.length, at + LOOKED_AT_FIRST);
    while (at < near && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
    if (at < near) return at;
    const quote = text.indexOf('"', at);
    if (quote === -1) return text.length;
    let escapes = quote;
    while (escapes > at && text.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    if ((quote - escapes) % 2 === 0) return quote;
    at = quote + 1;
  }
}
