/** What a fault run saw, as a table in Markdown. */
import { loadavg } from "node:os";

type Cell = string | number;

/** Prints it past the test runner, which would put a heading over every line, with the machine's load beneath. */
export function printTable(head: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const [load = 0] = loadavg();
  process.stdout.write(
    `\n${toTable(head, rows)}\n(load of the machine at the end, one minute: ${load.toFixed(1)})\n\n`,
  );
}

export function toTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
