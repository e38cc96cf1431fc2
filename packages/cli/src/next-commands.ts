/** The likely next commands after a command wrote something: look at it, or undo it. */
import { cellText } from "./cell.ts";
import type { Printer } from "./printer.ts";

/** Words behind `posthaste`, and their effect. */
export type NextCommand = readonly [words: readonly unknown[], does: string];

export function sayNext({ say }: Pick<Printer, "say">, commands: readonly NextCommand[]): void {
  const lines = commands.map(([words, does]) => [words.map(wordOf).join(" "), does] as const);
  const width = Math.max(...lines.map(([line]) => line.length));
  for (const [line, does] of lines) say(`  posthaste ${line.padEnd(width)}   ${does}`);
}

/** As a shell takes it for one word. */
function wordOf(value: unknown): string {
  const word = cellText(value);
  return /^[\w.:@/+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
