/** A document as a page of fields for a person: parts under headings, times with their distance, states in colour. */
import { cellText } from "./cell.ts";
import { colorState, momentWithDistance } from "./cell-words.ts";
import { type Entry, isEntry } from "./entries.ts";

const INDENT = "  ";
const NOTHING = "-";

export interface FieldPageOptions {
  readonly nowMs: number;
  readonly bold: (text: string) => string;
  readonly isColored: boolean;
}

export function fieldPage(entry: Entry, options: FieldPageOptions): readonly string[] {
  return linesOf(entry, "", options);
}

function linesOf(entry: Entry, indent: string, options: FieldPageOptions): readonly string[] {
  const fields = Object.entries(entry);
  const simple = fields.filter(([, value]) => partsOf(value) === null);
  const width = Math.max(0, ...simple.map(([name]) => wordsOf(name).length));
  return fields.flatMap(([name, value]) => {
    const parts = partsOf(value);
    const label = options.bold(wordsOf(name).padEnd(width));
    if (parts === null) return [`${indent}${label}  ${textOf(name, value, options)}`.trimEnd()];
    if (parts.length === 0) return [`${indent}${label}  ${NOTHING}`];
    return parts.flatMap(([number, part]) => [
      `${indent}${options.bold(`${wordsOf(name)}${number}`)}`,
      ...linesOf(part, indent + INDENT, options),
    ]);
  });
}

/** The documents in a value, numbered where there are several; null for a value of one line. */
function partsOf(value: unknown): readonly (readonly [number: string, part: Entry])[] | null {
  if (Array.isArray(value)) {
    if (value.length === 0 || !value.every(isEntry)) return null;
    return value.map((part, at) => [value.length === 1 ? "" : ` ${at + 1}`, part]);
  }
  return isEntry(value) ? (Object.keys(value).length === 0 ? [] : [["", value]]) : null;
}

function textOf(name: string, value: unknown, { nowMs, isColored }: FieldPageOptions): string {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return NOTHING;
  const text = momentWithDistance(Array.isArray(value) ? value.map(cellText).join(", ") : cellText(value), nowMs);
  return isColored ? colorState(text, name) : text;
}

/** `rateLimitPerSecond` as `rate limit per second`. A name of somebody's own, as of a header, stays. */
function wordsOf(name: string): string {
  if (!/^[a-z][A-Za-z0-9]*$/.test(name)) return cellText(name);
  return name.replace(/([a-z0-9])([A-Z])/g, (_, before: string, letter: string) => `${before} ${letter.toLowerCase()}`);
}
