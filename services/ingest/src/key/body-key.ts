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
import { stringAfterName } from "../body/string-member.ts";

const NAME = Buffer.from('"writeKey"');
/** Sought at first: JSON is full of quotes, at each of which a search for one stops, and has few of this letter. */
const NAME_BEHIND_QUOTE = NAME.subarray(1);
const QUOTE = 0x22;
/** Longer names that may end like it before it is sought as it is. */
const MAX_OTHERS = 16;
/** Places that are looked at from the body's beginning, and as many from its end. */
const MAX_PLACES = 8;

/** Each key once, those that no source could have left out. */
export function findWriteKeys(body: Buffer): readonly string[] {
  const keys = new Set<string>();
  let at = nextName(body, 0);
  for (let places = 0; at !== -1 && places < MAX_PLACES; places++) {
    addKeyAt(body, at, keys);
    at = nextName(body, at + NAME.length);
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

/** The first place of the name from `from` on; -1 where there is none. */
function nextName(body: Buffer, from: number): number {
  let start = from + 1;
  for (let others = 0; others < MAX_OTHERS; others++) {
    const at = body.indexOf(NAME_BEHIND_QUOTE, start);
    if (at === -1) return -1;
    if (body[at - 1] === QUOTE) return at - 1;
    start = at + 1;
  }
  return body.indexOf(NAME, start - 1);
}

function addKeyAt(body: Buffer, nameAt: number, keys: Set<string>): void {
  const key = stringAfterName(body, nameAt + NAME.length);
  if (key !== null && key !== "") keys.add(key);
}
