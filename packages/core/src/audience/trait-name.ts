/** The name of the trait that an audience or a computed trait is told by: the snake_case form of its name. */

/** Letters that no decomposition takes apart, as people write them without their key. */
const SPELT: Readonly<Record<string, string>> = {
  ...{ ß: "ss", ẞ: "SS", æ: "ae", Æ: "Ae", œ: "oe", Œ: "Oe", ø: "o", Ø: "O", ı: "i" },
  ...{ đ: "d", Đ: "D", ð: "d", Ð: "D", ł: "l", Ł: "L", þ: "th", Þ: "Th" },
};
const SPELT_LETTERS = new RegExp(`[${Object.keys(SPELT).join("")}]`, "gu");

/** What a Latin letter is decorated with. Marks of other scripts are part of the letter. */
const LATIN_MARKS = /(\p{Script=Latin})\p{Mn}+/gu;
/**
 * Seen by nobody (joiners, the choice of an emoji's look), or drawn around a digit: no part of a word and no end of
 * one.
 */
const UNSEEN = /\p{Cf}|\p{Me}|\p{Variation_Selector}|['’]/gu;
/** `fooBar` and `HTMLParser`, `Top10Users`: a word begins at a capital behind a small letter, or before one. */
const CAMEL_BOUNDARY = /(?<=\p{Ll})(?=\p{Lu})|(?<=[\p{Lu}\p{N}])(?=\p{Lu}\p{Ll})/gu;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

/**
 * `VIP customers (2026)` becomes `vip_customers_2026`, `élanÜber` becomes `elan_uber`. Letters of other scripts stay as
 * they are, in small where they have a small form; everything that is no letter or digit divides words. Null where no
 * word is left.
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
