/** `posthaste dead-letters`: what will not be tried again, and why. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { moment, queryOf, wholeNumber } from "../options.ts";
import { printRead } from "./print-read.ts";
import { replay } from "./replay.ts";

const PATH = "/v1/dead-letters";
const COLUMNS = ["time", "destinationId", "messageId", "type", "reason", "attempts"];
const COUNT_COLUMNS = ["destinationId", "reason", "count"];
/** What a person can look through; `--limit` asks for more. */
const DEFAULT_LIMIT = 50;

interface DeadLetterFilter {
  readonly destinationId?: string;
  readonly reason?: string;
  readonly since?: string;
  readonly until?: string;
}

export function addDeadLetters(program: Command, perform: Perform): void {
  const deadLetters = program.command("dead-letters").description("what will not be tried again, and why");

  withFilter(deadLetters.command("list"))
    .description("list dead letters, newest first; ends with 3 when nothing matches")
    .option("--limit <n>", "at most this many", wholeNumber, DEFAULT_LIMIT)
    .action(({ limit, ...filter }: DeadLetterFilter & { readonly limit: number }, command: Command) =>
      perform(command, async (context) =>
        printRead(context, await context.api.listRead(PATH, limit, toQuery(filter)), COLUMNS),
      ),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste dead-letters list --reason window_expired --since 1d",
        "posthaste dead-letters list --destination-id dst_4k2v8m1n0p3q5r7s --json",
      ]),
    );

  withFilter(deadLetters.command("count"))
    .description("count dead letters by destination and reason; ends with 3 when nothing matches")
    .action((filter: DeadLetterFilter, command: Command) =>
      perform(command, async (context) => {
        const counts = await context.api.listRead(`${PATH}/counts`, Number.POSITIVE_INFINITY, toQuery(filter));
        return printRead(context, counts, COUNT_COLUMNS);
      }),
    )
    .addHelpText(
      "after",
      examples(["posthaste dead-letters count", "posthaste dead-letters count --since 10m --json"]),
    );

  withFilter(deadLetters.command("replay"))
    .description("send dead letters again, and wait until that is done; ends with 3 when nothing matches")
    .option("--dry-run", "count them only")
    .action((filter: DeadLetterFilter & { readonly dryRun?: boolean }, command: Command) =>
      perform(command, (context) => replay(context, toQuery(filter), filter.dryRun === true)),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste dead-letters replay --destination-id dst_4k2v8m1n0p3q5r7s --dry-run",
        "posthaste dead-letters replay --reason window_expired --since 1d --yes",
      ]),
    );
}

function withFilter(command: Command): Command {
  return command
    .option("--destination-id <id>", "only those of this destination")
    .option("--reason <reason>", "only those with this reason, such as window_expired or rejected_by_receiver")
    .option("--since <time>", "only from this moment on: 10m ago, or ISO 8601", moment)
    .option("--until <time>", "only before this moment", moment);
}

function toQuery({ destinationId, reason, since, until }: DeadLetterFilter): Record<string, string> {
  return queryOf({ destinationId, reason, since, until });
}
