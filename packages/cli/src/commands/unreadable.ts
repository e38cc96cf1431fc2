/** `posthaste dead-letters unreadable`: records that no service could read. */
import type { Command } from "commander";
import type { Context, Perform } from "../context.ts";
import { counted } from "../counted.ts";
import { examples } from "../examples.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import { collect, given, queryOf, wholeNumber } from "../options.ts";
import type { Printer } from "../printer.ts";
import { printRead } from "./print-read.ts";

const PATH = "/v1/unreadable";
const COLUMNS = ["time", "place", "reason", "bytes", "by", "error"];
const DEFAULT_LIMIT = 50;
const REPRODUCE = `${PATH}/reproduce`;
/** Records are read and produced one after the other. */
const PATIENCE_MS = 120_000;

interface UnreadableFilter {
  readonly topic?: string;
  readonly reason?: string;
}

interface ListOptions extends UnreadableFilter {
  readonly limit: number;
  readonly reproduced?: boolean;
}

interface ReproduceOptions extends UnreadableFilter {
  readonly places?: readonly string[];
  readonly dryRun?: boolean;
}

export function addUnreadable(deadLetters: Command, perform: Perform): void {
  const unreadable = deadLetters.command("unreadable").description("records that no service could read");

  withFilter(unreadable.command("list"))
    .description("list unreadable records, newest first; ends with 3 when nothing matches")
    .option("--limit <n>", "at most this many", wholeNumber, DEFAULT_LIMIT)
    .option("--reproduced", "those that were produced again, too")
    .action((options: ListOptions, command: Command) => perform(command, (context) => list(context, options)))
    .addHelpText(
      "after",
      examples([
        "posthaste dead-letters unreadable list",
        "posthaste dead-letters unreadable list --reason unknown_schema --json",
      ]),
    );

  withFilter(unreadable.command("reproduce"))
    .description("produce them again to their topics, now that they can be read; ends with 3 when nothing matches")
    .option("--places <places>", "only these, as listed: topic/partition/offset, divided by commas", collect)
    .option("--dry-run", "count them only")
    .action((options: ReproduceOptions, command: Command) => perform(command, (context) => reproduce(context, options)))
    .addHelpText(
      "after",
      examples([
        "posthaste dead-letters unreadable reproduce --reason unknown_schema --dry-run",
        "posthaste dead-letters unreadable reproduce --places posthaste.events/3/1207 --yes",
      ]),
    );
}

function withFilter(command: Command): Command {
  return command
    .option("--topic <topic>", "only those of this topic")
    .option("--reason <reason>", "only those with this reason: not_framed, unknown_schema or not_of_schema");
}

async function list(context: Context, options: ListOptions): Promise<ExitCode> {
  const { topic, reason, limit, reproduced } = options;
  const query = queryOf({ topic, reason, reproduced: reproduced === true ? "true" : undefined });
  return printRead(context, await context.api.listRead(PATH, limit, query), COLUMNS);
}

/** 0 when all that matched went, 3 when nothing matched, 6 when some of it did not go. */
async function reproduce(context: Context, options: ReproduceOptions): Promise<ExitCode> {
  const { api, printer, confirm } = context;
  const { dryRun, ...filter } = options;
  const found = await api.call("POST", REPRODUCE, given({ ...filter, dryRun: true }));
  const matched = Number(found.matched);
  if (matched === 0) {
    printer.document(found);
    printer.say("nothing matches");
    return EXIT.no;
  }
  if (dryRun === true) {
    printer.document(found);
    return EXIT.done;
  }
  await confirm(`Produce ${counted(matched, "record")} again?`);
  const done = await reproduceAll(context, filter);
  printer.document({ matched, ...done });
  sayWhatStays(printer, matched, done);
  sayNext(printer, [
    [["dead-letters", "unreadable", "list", "--reproduced"], "shows them, and those that cannot be read still"],
  ]);
  return done.reproduced < matched ? EXIT.partly : EXIT.done;
}

interface Reproduced {
  readonly reproduced: number;
  readonly refused: number;
  /** Of those that their topic refused. */
  readonly refusedPlaces: readonly string[];
}

/** Call after call, since each takes so many records at the most; each record is tried once. */
async function reproduceAll({ api }: Context, filter: UnreadableFilter): Promise<Reproduced> {
  const refusedPlaces: string[] = [];
  let reproduced = 0;
  let cursor: unknown;
  do {
    const answer = await api.call("POST", REPRODUCE, given({ ...filter, cursor }), PATIENCE_MS);
    if (Array.isArray(answer.refusedPlaces)) refusedPlaces.push(...answer.refusedPlaces.map(String));
    reproduced += Number(answer.reproduced);
    cursor = answer.nextCursor;
  } while (typeof cursor === "string");
  return { reproduced, refused: refusedPlaces.length, refusedPlaces };
}

function sayWhatStays(printer: Printer, matched: number, { reproduced, refused }: Reproduced): void {
  if (refused > 0) {
    printer.say(`${refused} refused, larger than the max.message.bytes of their topic: raise that, then try again`);
  }
  const others = matched - reproduced - refused;
  if (others > 0) printer.say(`${others} did not go: their topic is no more, or retention took them`);
}
