/**
 * JSON values of a wanted size that are made of one thing over and over: values that a parser, a serialiser or a reader
 * may find dear.
 */

/** The content of a value. */
export const FILLERS = {
  objects: (bytes) => list("{}", bytes),
  arrays: (bytes) => list("[]", bytes),
  "objects of one key": (bytes) => list(`{"a":0}`, bytes),
  "objects in objects": (bytes) => list(`{"a":{"a":{}}}`, bytes),
  "objects of their own shapes": (bytes) => listOf(bytes, (n) => `{"${name(n)}":0}`),
  zeros: (bytes) => list("0", bytes),
  "dear doubles": (bytes) => list("1.7976931348623157e308", bytes),
  "small doubles": (bytes) => list("5e-324", bytes),
  "doubles of few letters": (bytes) => list("1e21", bytes),
  "numbers out of range": (bytes) => list("1e400", bytes),
  "one number": (bytes) => `[${"1".repeat(bytes)}]`,
  "one fraction": (bytes) => `[0.${"1".repeat(bytes)}]`,
  nulls: (bytes) => list("null", bytes),
  "empty strings": (bytes) => list(`""`, bytes),
  "strings of their own": (bytes) => listOf(bytes, (n) => `"${name(n)}"`),
  "integers as strings": (bytes) => listOf(bytes, (n) => `"${(n + 1) * 131_072}"`),
  keys: (bytes) => objectOf(bytes, (n) => `"${name(n)}":0`),
  "keys with an object": (bytes) => objectOf(bytes, (n) => `"${name(n)}":{}`),
  "keys with escapes": (bytes) => objectOf(bytes, (n) => `"\\u0061${name(n)}":0`),
  "keys with an escape of two letters": (bytes) => objectOf(bytes, (n) => `"\\n${name(n)}":0`),
  "keys with a backslash": (bytes) => objectOf(bytes, (n) => `"\\\\${name(n)}":0`),
  "one key with an escape in many objects": (bytes) => list(`{"\\u0061":0}`, bytes),
  "one key with a backslash in many objects": (bytes) => list(`{"\\\\":0}`, bytes),
  "keys beside strings with escapes": (bytes) => objectOf(bytes, (n) => `"\\t${name(n)}":"\\t"`),
  "keys of the private area": (bytes) => objectOf(bytes, (n) => `"\\ue000${"\\ue000".repeat(n % 7)}${name(n)}":0`),
  "integer keys": (bytes) => objectOf(bytes, (n) => `"${n}":0`),
  "integer keys far apart": (bytes) => objectOf(bytes, (n) => `"${(n + 1) * 131_072}":0`),
  "keys beyond an index": (bytes) => objectOf(bytes, (n) => `"${4_294_967_296 + n * 65_536}":0`),
  "one key again and again": (bytes) => objectOf(bytes, () => `"a":0`),
  "long keys": (bytes) => objectOf(bytes, (n) => `"${"k".repeat(200)}${name(n)}":0`),
  "keys named __proto__": (bytes) => list(`{"__proto__":{}}`, bytes),
  "keys named toJSON": (bytes) => list(`{"toJSON":{}}`, bytes),
  "keys named writeKey": (bytes) => list(`{"writeKey":"no"}`, bytes),
  "strings named writeKey": (bytes) => list(`"writeKey"`, bytes),
  "arrays in one another": (bytes) => nested("[", "]", bytes / 2),
  "objects in one another": (bytes) => nested(`{"a":`, "}", bytes / 6, "0"),
  "as deep as may be": (bytes) => list(nested("[", "]", 90), bytes),
  letters: (bytes) => `"${"x".repeat(bytes)}"`,
  "letters of two bytes": (bytes) => `"${"é".repeat(bytes / 2)}"`,
  "letters of four bytes": (bytes) => `"${"🚀".repeat(bytes / 4)}"`,
  "letters and one of three bytes": (bytes) => `"${"x".repeat(bytes)}€"`,
  escapes: (bytes) => `"${"\\u0001".repeat(bytes / 6)}"`,
  "short escapes": (bytes) => `"${"\\n".repeat(bytes / 2)}"`,
  backslashes: (bytes) => `"${"\\\\".repeat(bytes / 2)}"`,
  quotes: (bytes) => `"${'\\"'.repeat(bytes / 2)}"`,
  "lone surrogates": (bytes) => `"${"\\ud800".repeat(bytes / 6)}"`,
  brackets: (bytes) => `"${"[".repeat(bytes)}"`,
  blanks: (bytes) => `[${" ".repeat(bytes)}0]`,
  digits: (bytes) => `"2026-11-21T03:24:17.${"1".repeat(bytes)}Z"`,
  "a moment with blanks": (bytes) => `"2026-11-21T03:24:17Z${" ".repeat(bytes)}"`,
} as const satisfies Readonly<Record<string, (bytes: number) => string>>;

export type Filler = keyof typeof FILLERS;

/** A value of about so many bytes of JSON; some are arrays, some objects, some strings. */
export function fill(filler: Filler, bytes: number): string {
  return FILLERS[filler](Math.max(1, Math.floor(bytes)));
}

/** True of a filler that has keys written with escapes. */
export function hasEscapedKeys(filler: Filler): boolean {
  return /key/.test(filler) && /escape|backslash|private/.test(filler);
}

function name(n: number): string {
  return n.toString(36);
}

function list(item: string, bytes: number): string {
  const times = Math.max(1, Math.floor(bytes / (item.length + 1)));
  return `[${`${item},`.repeat(times - 1)}${item}]`;
}

function listOf(bytes: number, item: (n: number) => string): string {
  return `[${joined(bytes, item)}]`;
}

function objectOf(bytes: number, member: (n: number) => string): string {
  return `{${joined(bytes, member)}}`;
}

function joined(bytes: number, item: (n: number) => string): string {
  const items: string[] = [];
  for (let length = 0; length < bytes; length += (items.at(-1)?.length ?? 0) + 1) items.push(item(items.length));
  return items.join(",");
}

function nested(open: string, close: string, depth: number, inside = ""): string {
  return `${open.repeat(depth)}${inside}${close.repeat(depth)}`;
}
