/** Tables for a terminal, fitted to its width. */

const GAP = "  ";
/** A column is not cut below this: less than that says nothing. */
const MIN_WIDTH = 6;
/** Columns that somebody copies into the next command: a part of an id is none. */
const COPIED = /^(?:id|place)$|Ids?$/;

/**
 * Lines of a table, the header first. Where the natural widths do not fit into `width`, the widest columns give way
 * first, ids after all others, and cut texts end in an ellipsis; a terminal too narrow for that wraps.
 */
export function fitTable(header: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  const natural = naturalWidths(header, rows);
  const available = width - GAP.length * (header.length - 1);
  const isCopied = header.map((name) => COPIED.test(name));
  const withIds = fitWidths(natural, available, isCopied);
  const isFitting = withIds.reduce((sum, each) => sum + each, 0) <= available;
  const widths = isFitting ? withIds : fitWidths(natural, available);
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

/**
 * Lowers the ceiling of all columns, but of those that are `kept`, until they fit: narrow ones keep their width, wide
 * ones share the rest.
 */
function fitWidths(natural: readonly number[], available: number, kept: readonly boolean[] = []): number[] {
  let ceiling = Math.max(...natural, MIN_WIDTH);
  const widths = () => natural.map((width, column) => (kept[column] === true ? width : Math.min(width, ceiling)));
  while (ceiling > MIN_WIDTH && widths().reduce((sum, width) => sum + width, 0) > available) ceiling -= 1;
  return widths();
}

function cut(text: string, width: number): string {
  const characters = [...text];
  if (characters.length <= width) return text + " ".repeat(width - characters.length);
  return `${characters.slice(0, width - 1).join("")}…`;
}

function lengthOf(text: string): number {
  return [...text].length;
}
