/** A fault run's figures, as a table in Markdown. */
import { loadavg } from "node:os";

export type Cell = string | number;

export function toTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [toLine(head), toLine(head.map(() => "---")), ...rows.map(toLine)].join("\n");
}

export function toLine(cells: readonly Cell[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** Prints it past the test runner, which would put a heading over every line, with the load of the machine beneath. */
export function printWithLoad(text: string): void {
  const [load = 0] = loadavg();
  process.stdout.write(`\n${text}\n(load of the machine in the last minute: ${load.toFixed(1)})\n\n`);
}
