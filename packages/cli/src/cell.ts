/** A value of an API answer as the text of one cell. */

/** One line, without characters that a terminal would obey: anybody may write names. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return printable(value);
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.map(cellText).join(",");
  return printable(typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** Characters that a terminal obeys, that nobody sees or that turn text around, but for the joiners of letters. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/** Each such character becomes a space. */
function printable(text: string): string {
  return text.replace(UNSEEN, " ");
}

/** Lines as a terminal may have them: as `cellText`, but for the line ends. */
export function printableLines(text: string): string {
  return text.replace(UNSEEN, (each) => (each === "\n" ? each : " "));
}
