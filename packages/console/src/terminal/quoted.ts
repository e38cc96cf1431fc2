/** Texts for a shell. */

/** The text as one word, quoted where it has to be. */
export function quoted(text: string): string {
  return /^[\w.:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
