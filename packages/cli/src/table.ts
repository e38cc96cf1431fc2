/** Tables for a terminal, fitted to its width: texts wrap and are never cut; columns that find no room are left out. */

const GAP = "  ";
/** In a terminal too narrow for whole words, a column is as wide as this. */
const MIN_WIDTH = 6;
/** Words up to this length are not broken, as long as that leaves room for other columns. */
const WHOLE_WORD = 24;
/** The columns that are shown at any width. */
const ALWAYS_SHOWN = 2;
/** Columns that somebody copies into the next command: no id is broken. */
const COPIED = /^(?:id|place)$|Ids?$/;

export interface FittedTable {
  /** The lines of the header and of each row. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The columns that found no room. */
  readonly hidden: readonly string[];
}

/** Applied to each part of a cell, which is padded after it. */
export type Paint = (part: string, column: string) => string;

export interface TableOptions {
  readonly width: number;
  readonly paint?: Paint;
}

/** The last columns are left out first. */
export function fitTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { width, paint = (part) => part }: TableOptions,
): FittedTable {
  const widths = widthsOf(header, rows, width);
  const shown = header.slice(0, widths.length);
  const linesOf = (row: readonly string[], isHeader = false): string[] => {
    const cells = widths.map((columnWidth, column) => wrap(row[column] ?? "", columnWidth));
    const height = Math.max(...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_, line) => {
      const parts = cells.map((cell, column) => {
        const part = cell[line] ?? "";
        const painted = isHeader || part === "" ? part : paint(part, shown[column] ?? "");
        return painted + " ".repeat(Math.max(0, (widths[column] ?? 0) - lengthOf(part)));
      });
      return parts.join(GAP).trimEnd();
    });
  };
  return {
    header: linesOf(shown, true),
    rows: rows.map((row) => linesOf(row)),
    hidden: header.slice(widths.length),
  };
}

/** The widths of the columns that are shown. */
function widthsOf(header: readonly string[], rows: readonly (readonly string[])[], width: number): readonly number[] {
  const natural = header.map((name, column) => Math.max(...[name, ...textsOf(rows, column)].map(lengthOf)));
  const least = header.map((name, column) => {
    const words = [name, ...textsOf(rows, column)].flatMap((text) => wordsOf(text)).map(lengthOf);
    return Math.max(0, ...(COPIED.test(name) ? words : words.map((each) => Math.min(each, WHOLE_WORD))));
  });
  for (let shown = header.length; shown > 0; shown -= 1) {
    const room = width - GAP.length * (shown - 1);
    const fitted = fitWidths(natural.slice(0, shown), least.slice(0, shown), room);
    if (sumOf(fitted) <= room) return fitted;
    if (shown > ALWAYS_SHOWN) continue;
    const broken = fitWidths(natural.slice(0, shown), new Array(shown).fill(MIN_WIDTH), room);
    if (sumOf(broken) <= room || shown === 1) return broken;
  }
  return [];
}

/** Lowers the ceiling of all columns until they fit, but of none below its least width. */
function fitWidths(natural: readonly number[], least: readonly number[], room: number): number[] {
  let ceiling = Math.max(...natural, MIN_WIDTH);
  const widths = () => natural.map((width, column) => Math.min(width, Math.max(least[column] ?? 0, ceiling)));
  while (ceiling > MIN_WIDTH && sumOf(widths()) > room) ceiling -= 1;
  return widths();
}

/** The lines of a cell. A word longer than the column is broken. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of wordsOf(text, true)) {
    if (line !== "" && lengthOf((line + word).trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = "";
    }
    line += word;
    for (let rest = [...line.trimEnd()]; rest.length > width; rest = [...line.trimEnd()]) {
      lines.push(rest.slice(0, width).join(""));
      line = [...line].slice(width).join("");
    }
  }
  return line.trimEnd() === "" && lines.length > 0 ? lines : [...lines, line.trimEnd()];
}

/** A line may break behind spaces, commas, semicolons and slashes. */
function wordsOf(text: string, withSpaces = false): readonly string[] {
  const words = text.split(/(?<=[ ,;/])(?=[^ ,;/])/);
  return withSpaces ? words : words.map((word) => word.trimEnd());
}

function textsOf(rows: readonly (readonly string[])[], column: number): readonly string[] {
  return rows.map((row) => row[column] ?? "");
}

function sumOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0);
}

function lengthOf(text: string): number {
  return [...text].length;
}
