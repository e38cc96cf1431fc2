/** The name of an audience's or a computed trait's trait: the snake_case form of its own name. */

/** Letters that Unicode does not decompose, spelt as people write them without their key. */
const SPELT: Readonly<Record<string, string>> = {
  ...{ ß: "ss", ẞ: "SS", æ: "ae", Æ: "Ae", œ: "oe", Œ: "Oe", ø: "o", Ø: "O", ı: "i" },
  ...{ đ: "d", Đ: "D", ð: "d", Ð: "D", ł: "l", Ł: "L", þ: "th", Þ: "Th" },
};
const SPELT_LETTERS = new RegExp(`[${Object.keys(SPELT).join("")}]`, "gu");

/** The marks of a Latin letter. Marks of other scripts are a part of the letter. */
const LATIN_MARKS = /(\p{Script=Latin})\p{Mn}+/gu;
/**
 * Characters that are invisible (joiners, variation selectors) or drawn around a digit: neither a part nor an end of a
 * word.
 */
const UNSEEN = /\p{Cf}|\p{Me}|\p{Variation_Selector}|['’]/gu;
/**
 * A word begins at a capital behind a small letter (`fooBar`), and at a capital before one (`HTMLParser`,
 * `Top10Users`).
 */
const CAMEL_BOUNDARY = /(?<=\p{Ll})(?=\p{Lu})|(?<=[\p{Lu}\p{N}])(?=\p{Lu}\p{Ll})/gu;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

/**
 * `VIP customers (2026)` becomes `vip_customers_2026`, `élanÜber` becomes `elan_uber`. Letters of other scripts stay,
 * in lower case where they have it. Any character that is no letter or digit divides words. Null where no word is left.
 */
export function traitNameOf(name: string): string | null {
  const plain = name
    .normalize("NFKD")
    .replace(LATIN_MARKS, "$1")
    .normalize("NFC")
    .replace(UNSEEN, "")
    .replace(SPELT_LETTERS, (letter) => SPELT[letter] ?? letter)
    .replace(CAMEL_BOUNDARY, "_");
  const words = plain.match(WORD);
  return words === null ? null : words.join("_").toLowerCase();
}
