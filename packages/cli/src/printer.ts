/**
 * Standard output is data, standard error is talk; `--json`, `--quiet` and a missing terminal change their shape, not
 * that.
 */
import { cellText, printableLines } from "./cell.ts";
import { clockOf, colorState, distanceOf } from "./cell-words.ts";
import { type Entry, isEntry } from "./entries.ts";
import { fieldPage } from "./field-page.ts";
import { cutLine, foldLine } from "./fold.ts";
import type { JsonFilter } from "./json-filter.ts";
import { fitTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export interface PrinterOptions {
  readonly terminal: Terminal;
  readonly json: boolean;
  /** The printed part of each JSON document; the option asks for JSON too. */
  readonly filter?: JsonFilter | undefined;
  readonly quiet: boolean;
  readonly color: boolean;
}

export interface Printer {
  readonly isJson: boolean;
  /**
   * Entries of a list: JSON lines with every field under `--json`; else these columns, as a table with a header on a
   * terminal, where times are distances, tab-separated and whole without one. `made` are columns that are put together
   * from several fields.
   */
  list(
    entries: readonly Entry[],
    columns: readonly string[],
    made?: Readonly<Record<string, (entry: Entry) => unknown>>,
  ): void;
  /** The same for rows that come one after the other: the header once, columns fitted to as many of the last rows. */
  listOn(
    columns: readonly string[],
    made: Readonly<Record<string, (entry: Entry) => unknown>> | undefined,
    fitted: number,
  ): (entries: readonly Entry[]) => void;
  /** One document: JSON under `--json`, else a page of its fields on a terminal, and a line for each without one. */
  document(entry: Entry): void;
  /** Lines that are made for a person; nothing in them is obeyed by a terminal, which has them folded between words. */
  lines(lines: readonly string[]): void;
  /** Something a person may like to know; nothing under `--quiet`. */
  say(text: string): void;
  /** The same over the line that was written so before, without ending it; an empty text takes it away. */
  rewrite(text: string): void;
}

export function createPrinter({ terminal, filter, quiet, color, ...options }: PrinterOptions): Printer {
  const json = options.json || filter !== undefined;
  const bold = (text: string): string => (color && terminal.isTerminal ? `\u001b[1m${text}\u001b[22m` : text);
  const write = (lines: readonly string[]): void => {
    if (lines.length > 0) terminal.out(`${lines.join("\n")}\n`);
  };
  /** Texts may hold what a terminal would obey. */
  const filtered = (entry: Entry): readonly string[] | undefined =>
    filter?.(entry).map((line) => (terminal.isTerminal ? printableLines(line) : line));
  const listOn: Printer["listOn"] = (columns, made = {}, fitted) => {
    let last: readonly (readonly string[])[] | null = null;
    return (entries) => {
      if (json) return write(entries.flatMap((entry) => filtered(entry) ?? [JSON.stringify(entry)]));
      const rows = entries.map((entry) =>
        columns.map((column) => cellText(made[column]?.(entry) ?? valueAt(entry, column))),
      );
      if (!terminal.isTerminal) return write(rows.map((row) => row.join("\t")));
      // Rows that come one after the other stay on the screen: a distance would soon be wrong.
      const words = (text: string): string => (fitted === 0 ? distanceOf(text, terminal.nowMs()) : clockOf(text));
      const all = [...(last ?? []), ...rows.map((row) => row.map(words))];
      const paint = color ? colorState : undefined;
      const table = fitTable(columns, all, { width: terminal.columns, ...(paint === undefined ? {} : { paint }) });
      write([...(last === null ? table.header.map(bold) : []), ...table.rows.slice(all.length - rows.length).flat()]);
      if (last === null && table.hidden.length > 0)
        say(`no room for ${table.hidden.join(", ")}: a wider terminal or --json has all`);
      last = fitted === 0 ? [] : all.slice(-fitted);
    };
  };
  const say = (text: string): void => {
    if (quiet) return;
    const lines = terminal.isTalkTerminal && !json ? foldLine(text, terminal.columns) : [text];
    terminal.err(`${lines.join("\n")}\n`);
  };
  return {
    isJson: json,
    list: (entries, columns, made) => listOn(columns, made, 0)(entries),
    listOn,
    document: (entry) => {
      if (json) return write(filtered(entry) ?? [JSON.stringify(entry, null, 2)]);
      if (!terminal.isTerminal) return write(flatten(entry).map((field) => field.join("\t")));
      write(fieldPage(entry, { nowMs: terminal.nowMs(), bold, isColored: color }));
    },
    lines: (lines) => write(terminal.isTerminal ? lines.flatMap((line) => foldLine(line, terminal.columns)) : lines),
    say,
    rewrite: (text) => {
      // Text over the end of the row could not be taken away.
      if (!quiet) terminal.err(`\r\u001b[2K${cutLine(text, terminal.columns)}`);
    },
  };
}

/** `settings.urls.0.url` and its like. */
function valueAt(entry: Entry, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => (isEntry(value) ? value[key] : undefined), entry);
}

/** Fields with dotted names; lists of objects are numbered. */
function flatten(value: unknown, name = ""): (readonly [string, string])[] {
  const inner = Array.isArray(value) && value.some(isEntry) ? { ...value } : value;
  if (!isEntry(inner) || Array.isArray(inner)) return [[name, cellText(inner)]];
  const fields = Object.entries(inner);
  if (fields.length === 0) return name === "" ? [] : [[name, ""]];
  return fields.flatMap(([key, item]) => flatten(item, name === "" ? key : `${name}.${key}`));
}
