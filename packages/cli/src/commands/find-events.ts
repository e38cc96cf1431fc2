/** `posthaste events find`: a user's events, or events of a name, each with its verdict. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT } from "../exit-code.ts";
import { moment, queryOf, wholeNumber } from "../options.ts";
import { printRead } from "./print-read.ts";

const COLUMNS = ["receivedAt", "messageId", "type", "event", "userKey", "cause"];
/** As many as one page of events has. */
const PAGE = 50;

interface FindOptions {
  readonly userId?: string;
  readonly event?: string;
  readonly sourceId?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

export function addFindEvents(events: Command, perform: Perform): void {
  events
    .command("find")
    .description("events of a user or of a name, newest first; ends with 3 when nothing matches")
    .option("--user-id <id>", "of this user: the user id, else the anonymous id")
    .option("--event <name>", "of this name: a track's event, a page's or screen's name")
    .option("--source-id <id>", "only those of this source")
    .option("--since <time>", "only from this moment on: 10m ago, or ISO 8601", moment)
    .option("--until <time>", "only before this moment", moment)
    .option("--limit <n>", "at most this many", wholeNumber, PAGE)
    .action(({ limit, ...filter }: FindOptions, command: Command) =>
      perform(command, async (context) => {
        if (filter.userId === undefined && filter.event === undefined) {
          throw new CliError(EXIT.usage, "give --user-id or --event");
        }
        const list = await context.api.listRead("/v1/events", limit, queryOf({ ...filter }), { page: PAGE });
        return printRead(context, list, COLUMNS);
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste events find --user-id user-7 --since 1d",
        'posthaste events find --event "Order Completed" --source-id src_4k2v8m1n0p3q5r7s --json',
      ]),
    );
}
