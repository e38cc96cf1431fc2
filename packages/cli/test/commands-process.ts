/**
 * Runs commands for a test of another package, one for each line of its standard input: a JSON object with `args` and
 * the options of `runCommand`. The result is a line of its output, as JSON. A process for each would cost a test a
 * quarter of a second of CPU.
 */
import { createInterface } from "node:readline";
import type { RunOptions } from "./fake-control.ts";
import { runCommand } from "./test-terminal.ts";

interface Line extends RunOptions {
  readonly args: readonly string[];
}

for await (const line of createInterface({ input: process.stdin })) {
  const { args, ...options } = JSON.parse(line) as Line;
  process.stdout.write(`${JSON.stringify(await runCommand(args, options))}\n`);
}
