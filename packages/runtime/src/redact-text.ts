/**
 * Masks secrets in a text: an error's message or stack, or a line for people. A log does not know the secrets, so it
 * recognises them by their form: the user part of a URL, a value that is assigned to a secret's name, the words behind
 * an HTTP scheme. It masks too much rather than too little. Every step is linear in the length of the text.
 */

export const MASK = "***";

/** Longer texts are cut, in characters; no stack that helps is so long. */
const MAX_LENGTH = 8_192;

/**
 * Names of secrets in headers, settings, JSON and URLs. `ASSIGNED` matches such a name, then `=` or `:`, then the
 * value.
 */
const NAME =
  "(?:passw(?:or)?d|pwd|passphrase|secret|token|authorization|cookie|credentials?|signature|(?:api|access|private|write|secret)[_-]?keys?)";
/**
 * A value: in quotes, with escapes; in quotes that are themselves escaped; or without quotes, perhaps after `Basic` or
 * `Bearer`, up to a character that ends a bare word.
 */
const VALUE = String.raw`(?:"(?:[^"\\\n]|\\.)*|'(?:[^'\\\n]|\\.)*|\\"(?:[^"\\\n]|\\[^"\n])*|(?:(?:basic|bearer)\s)?[^\s"',;&]+)`;
const ASSIGNED = new RegExp(String.raw`(${NAME}s?(?:\\?["'])?\s{0,3}[:=]\s{0,3})${VALUE}`, "gi");
/** Matches words behind an HTTP scheme that are cut, however few of their characters are left. */
const CUT_INTRODUCED = /\b(basic|bearer) [\w.~+/=-]*$/i;
const INTRODUCED = /\b(basic|bearer) [\w.~+/=-]{6,}/gi;

/** Returns `text` with everything masked that looks like a secret, cut to `maxLength` characters. */
export function redactText(text: string, maxLength: number = MAX_LENGTH): string {
  const kept = text.length > maxLength ? cut(text, maxLength) : text;
  return maskUrls(kept).replace(ASSIGNED, `$1${MASK}`).replace(INTRODUCED, `$1 ${MASK}`);
}

/**
 * Cuts the text. A URL that the cut would go through is left out whole, since its `@` may stand behind the cut. So are
 * the words behind an HTTP scheme, which are masked by their length.
 */
function cut(text: string, length: number): string {
  const start = text.slice(0, length);
  const word = Math.max(start.lastIndexOf(" "), start.lastIndexOf("\n")) + 1;
  const kept = (start.includes("://", word) ? start.slice(0, word) : start).replace(CUT_INTRODUCED, "$1 ");
  return `${kept}… (${text.length - kept.length} more characters)`;
}

function maskUrls(text: string): string {
  if (!text.includes("@") || !text.includes("://")) return text;
  return text
    .split(/(\s+)/)
    .map((word) => (word.includes("@") ? maskUserPart(word) : word))
    .join("");
}

/** Masks the user part of a URL. In a text that is no valid URL, everything before the last `@` may be a password. */
function maskUserPart(word: string): string {
  const last = word.lastIndexOf("@");
  for (let at = word.indexOf("://"); at !== -1 && at < last; at = word.indexOf("://", at + 3)) {
    const start = at + 3;
    const authority = /^[^/?#\\]*/.exec(word.slice(start))?.[0] ?? "";
    // In a URL without user name and password, only a host and perhaps a port stand there.
    const isHost = !authority.includes("@") && URL.canParse(`http://${authority}`);
    if (!isHost) return word.slice(0, start) + MASK + word.slice(last);
  }
  return word;
}
