/** Longer than any message id that ingest takes. */
const MOST_CHARACTERS = 1000;

/** A message id in a pasted text, also as a log line or a program prints it; null for a text that cannot be one. */
export function pastedId(text: string): string | null {
  const id = text.trim().replace(/^["'`]|["'`],?$/g, "");
  return id === "" || id.length > MOST_CHARACTERS || /\s/.test(id) ? null : id;
}
