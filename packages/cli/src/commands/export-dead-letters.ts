/** Dead letters as a file: control's bytes are written as they come. */
import { printableLines } from "../cell.ts";
import type { Context } from "../context.ts";
import { counted } from "../counted.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";
import { startProgress } from "../progress.ts";
import { type DeadLetterFilter, deadLetterFilterQuery } from "./dead-letter-filter.ts";
import { skippedWords } from "./dead-letter-plan.ts";

export const EXPORT_FORMATS = ["ndjson", "csv", "parquet"] as const;

export interface ExportOptions extends DeadLetterFilter {
  readonly format: (typeof EXPORT_FORMATS)[number];
  readonly output?: string;
}

const PATH = "/v1/dead-letters";
/** Control's trailer behind the file's end: `suppressed=3, purged=0`. */
const SKIPPED_TRAILER = "posthaste-left-out";
const NEWLINE = 0x0a;

/** 0 when all of it is written. */
export async function exportDeadLetters(context: Context, options: ExportOptions): Promise<ExitCode> {
  const { api, printer, terminal } = context;
  const { format, output, ...filter } = options;
  if (format === "parquet" && output === undefined && terminal.isTerminal) {
    throw new CliError(EXIT.usage, "a terminal shows no Parquet", { hint: "name a file with --output" });
  }
  const query = deadLetterFilterQuery(filter);
  const total = await countOf(context, query);
  const { chunks, trailer } = await api.download(`${PATH}/export?${new URLSearchParams({ ...query, format })}`);
  const file = await terminal.openOutput(output ?? "-");
  // Bodies are strangers' text: a terminal must not obey them. A file has them as they are.
  const isShown = output === undefined && terminal.isTerminal;
  const decoder = new TextDecoder();
  const progress = startProgress(context);
  let [rows, bytes] = [format === "csv" ? -1 : 0, 0];
  try {
    for await (const chunk of chunks) {
      await file.write(isShown ? Buffer.from(printableLines(decoder.decode(chunk, { stream: true }))) : chunk);
      bytes += chunk.length;
      if (format !== "parquet") rows += linesIn(chunk);
      if (format === "parquet") progress.report("written KB", Math.round(bytes / 1000));
      else progress.report("dead letters", Math.max(0, rows), total);
    }
    await file.end();
  } finally {
    progress.end();
  }
  const what = format === "parquet" ? `${bytes} bytes` : counted(Math.max(0, rows), "dead letter");
  const left = skippedWords(countsIn(trailer(SKIPPED_TRAILER)));
  const behind = left === "" ? "" : `; left out: ${left}`;
  printer.say(`exported ${what}${output === undefined ? "" : ` to ${output}`}${behind}`);
  return EXIT.done;
}

/** As control counts them now; undefined while it cannot. */
async function countOf({ api }: Context, query: Record<string, string>): Promise<number | undefined> {
  try {
    const { entries, complete } = await api.listRead(`${PATH}/counts`, Number.POSITIVE_INFINITY, query);
    if (!complete) return undefined;
    return entries.reduce((sum, { count }) => sum + Number(count), 0);
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notReachable) return undefined;
    throw error;
  }
}

function countsIn(leftOut = ""): Record<string, number> {
  const counts = leftOut.split(",").map((part) => part.trim().split("="));
  return Object.fromEntries(counts.map(([cause = "", count]) => [cause, Number(count)]));
}

function linesIn(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}
