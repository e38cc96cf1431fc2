/**
 * Masks secrets in a text that somebody else wrote. A receiver may echo a secret in the encoding of its answer, so the
 * text is decoded in each usual way, with the place of every character kept, and a secret that is found is masked where
 * it stands. An encoding inside another is not undone.
 *
 * A text that was cut may end within a secret. An ending with which some secret begins is masked like a secret.
 */

const MASK = "***";

const JSON_ESCAPE = String.raw`\\u[0-9a-f]{4}|\\["\\/bfnrt]`;
const HTML_ENTITY = "&#[0-9]{1,7};|&#x[0-9a-f]{1,6};|&(?:amp|lt|gt|quot|apos);";
/** Matches a character of UTF-8 that is written byte by byte. */
const PERCENT = [
  "[0-7]",
  "[cd][0-9a-f]%[89ab]",
  "e[0-9a-f]%[89ab][0-9a-f]%[89ab]",
  "f[0-7](?:%[89ab][0-9a-f]){2}%[89ab]",
]
  .map((bytes) => `%${bytes}[0-9a-f]`)
  .join("|");

const JSON_LETTERS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const HTML_NAMES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const LAST_CODE_POINT = 0x10_ff_ff;

/**
 * The ways to decode a text. A text may mix encodings, and a secret may hold something that looks like one of them, so
 * the text is decoded in each way by itself and in all of them at once.
 */
const ENCODINGS = [
  { sign: "\\", escapes: new RegExp(JSON_ESCAPE, "gi") },
  { sign: "&", escapes: new RegExp(HTML_ENTITY, "gi") },
  { sign: "%", escapes: new RegExp(PERCENT, "gi") },
  // Forms encode a space as a plus sign.
  { sign: "+", escapes: new RegExp(`${PERCENT}|\\+`, "gi") },
  { sign: null, escapes: new RegExp(`${JSON_ESCAPE}|${HTML_ENTITY}|${PERCENT}`, "gi") },
] as const;

/** Matches an escape without its end, at the end of a text. The longest has 11 characters, as `%f0%9f%98%8`. */
const CUT_ESCAPE = new RegExp(
  `(?:${[
    String.raw`\\(?:u[0-9a-f]{0,3})?`,
    "&(?:[a-z]{0,4}|#[0-9]{0,7}|#x[0-9a-f]{0,6})",
    "(?:%[cd][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f])?|%f[0-7](?:%[89ab][0-9a-f]){0,2})?(?:%[0-9a-f]?)?",
  ].join("|")})$`,
  "i",
);
const LONGEST_CUT_ESCAPE = 11;

/** Returns the character that an escape stands for, or null for an escape of no character. */
function decode(escaped: string): string | null {
  const rest = escaped.slice(1);
  switch (escaped[0]) {
    case "+":
      return " ";
    case "%":
      return rest.length === 2
        ? String.fromCharCode(Number.parseInt(rest, 16))
        : Buffer.from(escaped.replaceAll("%", ""), "hex").toString("utf8");
    case "\\":
      return /^u./i.test(rest) ? String.fromCharCode(Number.parseInt(rest.slice(1), 16)) : (JSON_LETTERS[rest] ?? rest);
    default:
      return decodeEntity(rest.slice(0, -1).toLowerCase());
  }
}

function decodeEntity(name: string): string | null {
  if (!name.startsWith("#")) return HTML_NAMES[name] ?? null;
  const code = name.startsWith("#x") ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code <= LAST_CODE_POINT ? String.fromCodePoint(code) : null;
}

type Range = readonly [from: number, to: number];

/**
 * Returns `text` with all secrets masked, plain or encoded. Each way of decoding reads the original text, and the
 * findings of all ways are masked. If a way read a text in which another way had masked something, it could miss a
 * secret that overlaps the mask. `isCut` says that the text went on.
 */
export function maskSecrets(whole: string, secrets: readonly string[], isCut: boolean): string {
  const text = isCut ? withoutCutCharacter(whole) : whole;
  const search = { secrets, isCut };
  const ranges = rangesOf(text, search, (at) => at);
  // The text's writer decides how long this takes, so ways of decoding that cannot find anything new are left out.
  const kinds = ["\\", "&", "%"].filter((sign) => text.includes(sign));
  for (const { escapes, sign } of ENCODINGS) {
    if (sign === null ? kinds.length > 1 : text.includes(sign)) ranges.push(...encodedRanges(text, search, escapes));
  }
  return maskRanges(
    text,
    ranges.sort(([left], [right]) => left - right),
  );
}

/** Returns the text without its end where the cut may have gone through a character or an escape. */
function withoutCutCharacter(text: string): string {
  const kept = text.replace(/\uFFFD{1,3}$/, "");
  const end = Math.max(0, kept.length - LONGEST_CUT_ESCAPE);
  return kept.slice(0, end) + kept.slice(end).replace(CUT_ESCAPE, "");
}

interface Search {
  readonly secrets: readonly string[];
  readonly isCut: boolean;
}

function encodedRanges(text: string, search: Search, escapes: RegExp): readonly Range[] {
  let decoded = "";
  /** For each code unit of `decoded`, where it begins in the text; the last entry is the text's end. */
  const places: number[] = [];
  let end = 0;
  const copyUntil = (place: number): void => {
    decoded += text.slice(end, place);
    for (; end < place; end += 1) places.push(end);
  };
  for (const { 0: escaped, index } of text.matchAll(escapes)) {
    const character = decode(escaped);
    if (character === null) continue;
    copyUntil(index);
    decoded += character;
    for (let unit = 0; unit < character.length; unit += 1) places.push(index);
    end = index + escaped.length;
  }
  if (end === 0) return [];
  copyUntil(text.length);
  places.push(text.length);
  return rangesOf(decoded, search, (at) => places[at] ?? 0);
}

/**
 * Returns where secrets stand in `decoded`; `placeOf` answers where one of its code units begins in the original text.
 */
function rangesOf(decoded: string, { secrets, isCut }: Search, placeOf: (at: number) => number): Range[] {
  const ranges: Range[] = [];
  for (const secret of secrets) {
    let at = decoded.indexOf(secret);
    while (at !== -1) {
      ranges.push([placeOf(at), placeOf(at + secret.length)]);
      at = decoded.indexOf(secret, at + secret.length);
    }
    const begun = isCut ? beginningAtEnd(decoded, secret) : -1;
    if (begun !== -1) ranges.push([placeOf(begun), placeOf(decoded.length)]);
  }
  return ranges;
}

/** Returns where the longest ending of the text begins that is the beginning of the secret; -1 where none is. */
function beginningAtEnd(decoded: string, secret: string): number {
  const first = secret.charAt(0);
  let at = decoded.indexOf(first, Math.max(0, decoded.length - secret.length));
  while (at !== -1 && !secret.startsWith(decoded.slice(at))) at = decoded.indexOf(first, at + 1);
  return at;
}

function maskRanges(text: string, ranges: readonly Range[]): string {
  let masked = "";
  let end = 0;
  for (const [from, to] of ranges) {
    // A secret that overlaps the last one belongs to the mask of that one.
    if (from >= end) masked += text.slice(end, from) + MASK;
    end = Math.max(end, to);
  }
  return masked + text.slice(end);
}
