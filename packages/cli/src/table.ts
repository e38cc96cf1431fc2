/** Tables for a terminal, fitted to its width. */

const GAP = "  ";
/** A column is not cut below this: less than that says nothing. */
const MIN_WIDTH = 6;

/**
 * Lines of a table, the header first. Where the natural widths do not fit into `width`, the widest columns give way
 * first and what is cut ends in an ellipsis; a terminal too narrow for that wraps.
 */
export function fitTable(header: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  const widths = fitWidths(naturalWidths(header, rows), width - GAP.length * (header.length - 1));
  return [header, ...rows].map((row) =>
    widths
      .map((columnWidth, column) => cut(row[column] ?? "", columnWidth))
      .join(GAP)
      .trimEnd(),
  );
}

function naturalWidths(header: readonly string[], rows: readonly (readonly string[])[]): number[] {
  return header.map((name, column) => Math.max(...[name, ...rows.map((row) => row[column] ?? "")].map(lengthOf)));
}

/** Lowers the ceiling of all columns until they fit: narrow ones keep their width, wide ones share what is left. */
function fitWidths(natural: readonly number[], available: number): number[] {
  let ceiling = Math.max(...natural, MIN_WIDTH);
  const total = () => natural.reduce((sum, width) => sum + Math.min(width, ceiling), 0);
  while (ceiling > MIN_WIDTH && total() > available) ceiling -= 1;
  return natural.map((width) => Math.min(width, ceiling));
}

function cut(text: string, width: number): string {
  const characters = [...text];
  if (characters.length <= width) return text + " ".repeat(width - characters.length);
  return `${characters.slice(0, width - 1).join("")}…`;
}

function lengthOf(text: string): number {
  return [...text].length;
}
