/** A value of an API answer as the text of one cell. */

/** One line, nothing in it that a terminal would obey: names come from whoever may write them. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return printable(value);
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.map(cellText).join(",");
  return printable(typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** Control characters, and those that turn the direction of text around, become spaces. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, " ");
}
