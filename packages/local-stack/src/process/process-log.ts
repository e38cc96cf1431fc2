/** The file that a process's standard output and error go to. */
import { openSync, renameSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** The largest log that people can still open and search with ease, in bytes. */
const MAX_BYTES = 10_000_000;
const TAIL_LINES = 12;

/**
 * Opens a log to append to, and returns its descriptor, which the caller closes. A log of more than `maxBytes` becomes
 * `<file>.1` first, in place of the one that was rotated before.
 */
export function openLog(file: string, maxBytes: number = MAX_BYTES): number {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > maxBytes) renameSync(file, `${file}.1`);
  return openSync(file, "a");
}

/** Returns the last lines of a log, to stand at the end of a sentence about a failure. */
export async function logTail(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  const lines = text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  return lines === "" ? `; its log, ${file}, is empty` : `; the end of ${file}:\n${lines}`;
}
