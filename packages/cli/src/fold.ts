/** Lines of prose that are longer than a terminal is wide. */

/** How much further in a line goes on. */
const HANGING = 4;
/** Narrower than this, and a terminal breaks lines as it likes. */
const MIN_COLUMNS = 20;

/**
 * The line, broken between words. A word that is longer than the terminal stays whole, and so does a line with a
 * command, which somebody may copy.
 */
export function foldLine(line: string, columns: number): readonly string[] {
  if ([...line].length <= columns || columns < MIN_COLUMNS || line.includes("posthaste ")) return [line];
  const [, ownIndent = "", text = ""] = /^( *)(.*)$/s.exec(line) ?? [];
  const indent = " ".repeat(ownIndent.length + HANGING);
  const folded: string[] = [];
  let current = ownIndent;
  let gap = "";
  for (const [, word = "", spaces = ""] of text.matchAll(/([^ ]+)( *)/g)) {
    const isFirst = gap === "";
    if (!isFirst && [...current, ...gap, ...word].length > columns) {
      folded.push(current);
      current = indent + word;
    } else current += gap + word;
    gap = spaces;
  }
  return [...folded, current];
}

/** As much of the line as one row of the terminal has. */
export function cutLine(line: string, columns: number): string {
  const characters = [...line];
  return characters.length < columns ? line : `${characters.slice(0, Math.max(0, columns - 2)).join("")}…`;
}
