/** Longer than any message id that ingest takes. */
const MOST_CHARACTERS = 1000;

/** A message id in what was pasted, also as a log line or a program prints it; null for what cannot be one. */
export function pastedId(text: string): string | null {
  const id = text.trim().replace(/^["'`]|["'`],?$/g, "");
  return id === "" || id.length > MOST_CHARACTERS || /\s/.test(id) ? null : id;
}
