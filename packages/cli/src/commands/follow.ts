/** `--follow`: a list that goes on, row by row as they come. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Context } from "../context.ts";
import { parseDuration } from "../duration.ts";
import type { Entry } from "../entries.ts";
import { followLive } from "../live-stream.ts";
import { namesBeside } from "../names.ts";

const GIVE_UP_MS = 60_000;
/** Rows by which a terminal's columns are fitted. */
export const FITTED_ROWS = 50;

export interface FollowedList {
  readonly follow?: boolean;
  readonly giveUp?: number;
}

/** `without` are options that say something of the past alone; `shown` is which rows come. */
export function withFollow(
  command: Command,
  without: readonly string[],
  shown = "each one that comes from now on",
): Command {
  return command
    .addOption(new Option("--follow", `${shown}, until Ctrl-C`).conflicts([...without]))
    .option("--give-up <duration>", "with --follow: end with 5 when control was away for so long (60s)", patience);
}

function patience(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0) throw new InvalidArgumentError("Expected a duration such as 500ms, 10s or 2m.");
  return ms;
}

export interface FollowedRows {
  readonly topic: string;
  readonly query: Readonly<Record<string, string>>;
  readonly giveUp: number | undefined;
  readonly columns: readonly string[];
  readonly made?: Readonly<Record<string, (entry: Entry) => unknown>>;
  /** The rows printed before, once the stream is there; `isNew` tells later rows from these. */
  readonly before?: () => Promise<readonly Entry[]>;
  readonly isNew?: (row: Entry, before: readonly Entry[]) => boolean;
}

/** Ends with Ctrl-C, or rejects with CliError. */
export async function followRows(context: Context, options: FollowedRows): Promise<never> {
  const { topic, query, giveUp, columns, made, before, isNew = () => true } = options;
  const named = await namesBeside(context, columns);
  const print = context.printer.listOn(columns, { ...named, ...made }, FITTED_ROWS);
  let shown: readonly Entry[] = [];
  return followLive(context, {
    ...{ topic, query, giveUpMs: giveUp ?? GIVE_UP_MS },
    onBegin: async () => {
      shown = (await before?.()) ?? [];
      if (shown.length > 0) print(shown);
    },
    onRow: (row) => {
      if (isNew(row, shown)) print([row]);
    },
  });
}
