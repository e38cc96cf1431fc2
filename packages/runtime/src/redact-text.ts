/**
 * Secrets masked in a text: an error's message or stack, a line for people. What is masked is told by its form, since a
 * log does not know the secrets: the user part of a URL, what is assigned to the name of a secret, what an HTTP scheme
 * introduces. Too much is masked rather than too little. Every step is linear in the text.
 */

export const MASK = "***";

/** Longer texts are cut: longer than any stack that helps. */
const MAX_LENGTH = 8_192;

/** Names as they stand in headers, settings, JSON and URLs; in code points behind them `=` or `:`, then the value. */
const NAME =
  "(?:passw(?:or)?d|pwd|passphrase|secret|token|authorization|cookie|credentials?|signature|(?:api|access|private|write|secret)[_-]?keys?)";
/** In quotes, escapes included; in quotes that are escaped themselves; or until something that ends a bare word. */
const VALUE = String.raw`(?:"(?:[^"\\\n]|\\.)*|'(?:[^'\\\n]|\\.)*|\\"(?:[^"\\\n]|\\[^"\n])*|(?:(?:basic|bearer)\s)?[^\s"',;&]+)`;
const ASSIGNED = new RegExp(String.raw`(${NAME}s?(?:\\?["'])?\s{0,3}[:=]\s{0,3})${VALUE}`, "gi");
const INTRODUCED = /\b(basic|bearer) [\w.~+/=-]{6,}/gi;

/** `text` without what looks like a secret, cut to `maxLength` characters. */
export function redactText(text: string, maxLength: number = MAX_LENGTH): string {
  const kept = text.length > maxLength ? cut(text, maxLength) : text;
  return maskUrls(kept).replace(ASSIGNED, `$1${MASK}`).replace(INTRODUCED, `$1 ${MASK}`);
}

/** Without the word that the cut went through where that is a URL: its `@` may stand behind the cut. */
function cut(text: string, length: number): string {
  const start = text.slice(0, length);
  const word = Math.max(start.lastIndexOf(" "), start.lastIndexOf("\n")) + 1;
  const kept = start.includes("://", word) ? start.slice(0, word) : start;
  return `${kept}… (${text.length - kept.length} more characters)`;
}

function maskUrls(text: string): string {
  if (!text.includes("@") || !text.includes("://")) return text;
  return text
    .split(/(\s+)/)
    .map((word) => (word.includes("@") ? maskUserPart(word) : word))
    .join("");
}

/** Of a URL that is none everything before the last `@` may be a password, whatever stands in it. */
function maskUserPart(word: string): string {
  const last = word.lastIndexOf("@");
  for (let at = word.indexOf("://"); at !== -1 && at < last; at = word.indexOf("://", at + 3)) {
    const start = at + 3;
    const authority = /^[^/?#\\]*/.exec(word.slice(start))?.[0] ?? "";
    // A host, and perhaps a port, is all that a URL without user name and password has there.
    const isHost = !authority.includes("@") && URL.canParse(`http://${authority}`);
    if (!isHost) return word.slice(0, start) + MASK + word.slice(last);
  }
  return word;
}
