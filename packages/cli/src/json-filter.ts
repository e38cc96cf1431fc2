/** `--jq`: a jq program over each JSON document that a command prints. */
import { compile } from "@michaelhomer/jqjs";
import { CliError, EXIT } from "./exit-code.ts";

/** The lines that are printed for a document. */
export type JsonFilter = (document: unknown) => readonly string[];

/** Throws CliError for a text that is no jq program; what it returns, where a document does not fit. */
export function jsonFilter(program: string): JsonFilter {
  const run = checked(() => compile(program));
  return (document) => checked(() => Array.from(run(document), lineOf));
}

/** Texts as they are, as `jq -r` prints them. */
function lineOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function checked<T>(run: () => T): T {
  try {
    return run();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(EXIT.usage, `--jq: ${reason}`, { cause });
  }
}
