/** Dead letters as a file: what control sends is written as it comes. */
import type { Context } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";
import { startProgress } from "../progress.ts";
import { type LetterFilter, letterQuery } from "./letter-filter.ts";

export const EXPORT_FORMATS = ["ndjson", "csv", "parquet"] as const;

export interface ExportOptions extends LetterFilter {
  readonly format: (typeof EXPORT_FORMATS)[number];
  readonly output?: string;
}

const PATH = "/v1/dead-letters";
const NEWLINE = 0x0a;

/** 0 when all of it is written. */
export async function exportLetters(context: Context, options: ExportOptions): Promise<ExitCode> {
  const { api, printer, terminal } = context;
  const { format, output, ...filter } = options;
  if (format === "parquet" && output === undefined && terminal.isTerminal) {
    throw new CliError(EXIT.usage, "a terminal shows no Parquet", { hint: "name a file with --output" });
  }
  const query = letterQuery(filter);
  const total = await countOf(context, query);
  const chunks = await api.download(`${PATH}/export?${new URLSearchParams({ ...query, format })}`);
  const file = await terminal.openOutput(output ?? "-");
  const progress = startProgress(context);
  let [rows, bytes] = [format === "csv" ? -1 : 0, 0];
  try {
    for await (const chunk of chunks) {
      await file.write(chunk);
      bytes += chunk.length;
      if (format !== "parquet") rows += linesIn(chunk);
      if (format === "parquet") progress.report("written KB", Math.round(bytes / 1000));
      else progress.report("dead letters", Math.max(0, rows), total);
    }
    await file.end();
  } finally {
    progress.end();
  }
  const what = format === "parquet" ? `${bytes} bytes` : `${Math.max(0, rows)} dead letters`;
  printer.say(`exported ${what}${output === undefined ? "" : ` to ${output}`}`);
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

function linesIn(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}
