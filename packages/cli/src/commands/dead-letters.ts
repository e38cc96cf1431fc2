/** `posthaste dead-letters`: deliveries that will not be tried again, and the reasons. */
import { type Command, Option } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { positiveNumber, wholeNumber } from "../options.ts";
import {
  type DeadLetterFilter,
  deadLetterFilterQuery,
  withDeadLetterFilter,
  withNamedDeadLetters,
} from "./dead-letter-filter.ts";
import { EXPORT_FORMATS, type ExportOptions, exportDeadLetters } from "./export-dead-letters.ts";
import { type FollowedList, followRows, withFollow } from "./follow.ts";
import { printRead } from "./print-read.ts";
import { type PurgeOptions, purge } from "./purge.ts";
import { type ReplayOptions, replay } from "./replay.ts";
import { addUnreadable } from "./unreadable.ts";

const PATH = "/v1/dead-letters";
const COLUMNS = ["time", "place", "destinationId", "messageId", "type", "reason", "attempts", "state"];
const COUNT_COLUMNS = ["destinationId", "reason", "count"];
const GROUP_COLUMNS = ["open", "deliveredSince", "destinationId", "reason", "error", "lastAt", "remedy"];
/** As many as a person can look through; `--limit` asks for more. */
const DEFAULT_LIMIT = 50;
/** Groups are counted when they are asked for. */
const GROUPS_MS = 60_000;

export function addDeadLetters(program: Command, perform: Perform): void {
  const deadLetters = program.command("dead-letters").description("what will not be tried again, and why");
  addList(deadLetters, perform);
  addCount(deadLetters, perform);
  addGroups(deadLetters, perform);
  addShow(deadLetters, perform);
  addExport(deadLetters, perform);
  addReplay(deadLetters, perform);
  addPurge(deadLetters, perform);
}

interface ListOptions extends DeadLetterFilter, FollowedList {
  readonly open?: boolean;
  readonly limit: number;
}

function addList(deadLetters: Command, perform: Perform): void {
  withFollow(withDeadLetterFilter(deadLetters.command("list")), ["since", "until", "limit", "open"])
    .description("list dead letters, newest first; ends with 3 when nothing matches")
    .option("--open", "only those that were neither delivered since nor sent again in vain")
    .option("--limit <n>", "at most this many", wholeNumber, DEFAULT_LIMIT)
    .action(({ limit, open, follow, giveUp, ...filter }: ListOptions, command: Command) =>
      perform(command, async (context) => {
        const query = deadLetterFilterQuery(filter);
        if (follow === true) return followRows(context, { topic: "dead-letters", query, giveUp, columns: COLUMNS });
        const asked = open === true ? { ...query, open: "true" } : query;
        return printRead(context, await context.api.listRead(PATH, limit, asked), COLUMNS);
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste dead-letters list --reason window_expired --since 1d",
        "posthaste dead-letters list --destination-id dst_4k2v8m1n0p3q5r7s --error 503 --json",
        "posthaste dead-letters list --open",
        "posthaste dead-letters list --follow",
      ]),
    );
}

function addCount(deadLetters: Command, perform: Perform): void {
  withDeadLetterFilter(deadLetters.command("count"))
    .description("count dead letters by destination and reason; ends with 3 when nothing matches")
    .action((filter: DeadLetterFilter, command: Command) =>
      perform(command, async (context) => {
        const counts = await context.api.listRead(
          `${PATH}/counts`,
          Number.POSITIVE_INFINITY,
          deadLetterFilterQuery(filter),
        );
        return printRead(context, counts, COUNT_COLUMNS);
      }),
    )
    .addHelpText(
      "after",
      examples(["posthaste dead-letters count", "posthaste dead-letters count --since 10m --json"]),
    );
}

function addGroups(deadLetters: Command, perform: Perform): void {
  withDeadLetterFilter(deadLetters.command("groups"))
    .description(
      "dead letters by destination, reason and error, with what helps, those with the most open first; " +
        "ends with 3 when nothing matches",
    )
    .action((filter: DeadLetterFilter, command: Command) =>
      perform(command, async (context) => {
        const query = deadLetterFilterQuery(filter);
        const patience = { extraMs: GROUPS_MS };
        const groups = await context.api.listRead(`${PATH}/groups`, Number.POSITIVE_INFINITY, query, patience);
        return printRead(context, groups, GROUP_COLUMNS);
      }),
    )
    .addHelpText(
      "after",
      examples(["posthaste dead-letters groups", "posthaste dead-letters groups --since 1d --json"]),
    );
}

function addShow(deadLetters: Command, perform: Perform): void {
  deadLetters
    .command("show <place>")
    .description("one dead letter with its body and every attempt, by its place as lists show it")
    .action((place: string, _: object, command: Command) =>
      perform(command, async ({ api, printer }) => {
        printer.document(await api.call("GET", `${PATH}/${encodeURIComponent(place)}`));
        return EXIT.done;
      }),
    )
    .addHelpText(
      "after",
      examples(["posthaste dead-letters show 3:1042", "posthaste dead-letters show 3:1042 --json"]),
    );
}

function addExport(deadLetters: Command, perform: Perform): void {
  withDeadLetterFilter(deadLetters.command("export"))
    .description("all that match, with their bodies, as one file of any size")
    .addOption(new Option("--format <format>", "of the file").choices(EXPORT_FORMATS).default("ndjson"))
    .option("--output <path>", "write there instead of standard output; there is no such file until it is whole")
    .action((options: ExportOptions, command: Command) =>
      perform(command, (context) => exportDeadLetters(context, options)),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste dead-letters export --format parquet --output dead-letters.parquet",
        "posthaste dead-letters export --reason rejected_by_receiver --since 1d",
      ]),
    );

  addUnreadable(deadLetters, perform);
}

function addReplay(deadLetters: Command, perform: Perform): void {
  withNamedDeadLetters(deadLetters.command("replay"))
    .description("count dead letters, send those again, and wait until that is done; ends with 3 when nothing matches")
    .option("--dry-run", "count them only; the plan can be started for an hour")
    .option("--plan <id>", "start what a dry run counted, instead of counting")
    .option("--again", "those too that were delivered since or replayed before")
    .option("--rate-per-second <n>", "deliveries a second at the most", positiveNumber)
    .option("--no-wait", "leave it running")
    .action((options: ReplayOptions, command: Command) => perform(command, (context) => replay(context, options)))
    .addHelpText(
      "after",
      examples([
        "posthaste dead-letters replay --destination-id dst_4k2v8m1n0p3q5r7s --dry-run",
        "posthaste dead-letters replay --reason window_expired --since 1d --rate-per-second 100 --yes",
        "posthaste dead-letters replay --plan rpl_4k2v8m1n0p3q5r7s --no-wait --yes",
      ]),
    );
}

function addPurge(deadLetters: Command, perform: Perform): void {
  withNamedDeadLetters(deadLetters.command("purge"))
    .description("count dead letters, and have them be seen and replayed no more; ends with 3 when nothing matches")
    .option("--dry-run", "count them only; the plan can be carried out for an hour")
    .option("--plan <id>", "purge what a dry run counted, instead of counting")
    .action((options: PurgeOptions, command: Command) => perform(command, (context) => purge(context, options)))
    .addHelpText(
      "after",
      examples([
        "posthaste dead-letters purge --user-id user-7 --dry-run",
        "posthaste dead-letters purge --destination-id dst_4k2v8m1n0p3q5r7s --until 7d --yes",
        "posthaste dead-letters purge --plan rpl_4k2v8m1n0p3q5r7s --yes",
      ]),
    );
}
