/**
 * The write keys in a body, found in its bytes, so that a sender without a known key is refused before its body is
 * parsed.
 *
 * BK1  The body's own key is among those that are found, wherever it stands: of a repeated name the last one counts,
 *      and a batch may have a key in each of its calls.
 * BK2  A bounded number of places is looked at, however often the name stands in the body.
 * - A key that is found may stand deeper than where it counts. Finding a known key allows the body to be parsed, and
 *   nothing more.
 */
import { stringAfterName } from "../body/string-member.ts";

const NAME = Buffer.from('"writeKey"');
/**
 * The name without its first quote, which is searched first: JSON is full of quotes, at each of which a search for the
 * whole name would stop, and has few of this letter.
 */
const NAME_BEHIND_QUOTE = NAME.subarray(1);
const QUOTE = 0x22;
/** How many longer names with the same end are passed over before the whole name is searched. */
const MAX_OTHERS = 16;
/** How many places are looked at from the body's beginning, and as many from its end. */
const MAX_PLACES = 8;

/** The keys in the body, each once, without empty ones. */
export function findWriteKeys(body: Buffer): readonly string[] {
  const keys = new Set<string>();
  let at = nextName(body, 0);
  for (let places = 0; at !== -1 && places < MAX_PLACES; places++) {
    addKeyAt(body, at, keys);
    at = nextName(body, at + NAME.length);
  }
  // In the rest of the body the last places count.
  if (at === -1) return [...keys];
  const first = at;
  at = body.lastIndexOf(NAME);
  for (let places = 0; at >= first && places < MAX_PLACES; places++) {
    addKeyAt(body, at, keys);
    at = body.lastIndexOf(NAME, at - 1);
  }
  return [...keys];
}

/** The first place of the name from `from` on; -1 when there is none. */
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
