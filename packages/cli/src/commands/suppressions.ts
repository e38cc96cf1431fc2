/** `posthaste suppressions`: users whose events a deletion request stopped. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import { queryOf } from "../options.ts";

const PATH = "/v1/suppressions";

interface Whose {
  readonly userId: string;
  readonly sourceId?: string;
}

export function addSuppressions(program: Command, perform: Perform): void {
  const suppressions = program.command("suppressions").description("users whose events a deletion request stopped");

  whose(suppressions.command("get"))
    .description("of which sources nothing about a user is delivered; ends with 3 when there is none")
    .action(({ userId, sourceId }: Whose, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const found = await api.call("GET", `${PATH}?${new URLSearchParams(queryOf({ userId, sourceId }))}`);
        printer.document(found);
        return isEmpty(found.sourceIds) ? EXIT.no : EXIT.done;
      }),
    )
    .addHelpText("after", examples(["posthaste suppressions get --user-id user-7"]));

  whose(suppressions.command("remove"))
    .description(
      "deliver a user's events again, from those that come from now on; ends with 3 when nothing was stopped",
    )
    .action(({ userId, sourceId }: Whose, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const ended = await api.call("DELETE", `${PATH}?${new URLSearchParams(queryOf({ userId, sourceId }))}`);
        printer.document(ended);
        if (!isEmpty(ended.ended)) {
          sayNext(printer, [[["suppressions", "get", "--user-id", userId], "shows what is suppressed still"]]);
          return EXIT.done;
        }
        printer.say("nothing of this user was suppressed");
        return EXIT.no;
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste suppressions remove --user-id user-7",
        "posthaste suppressions remove --user-id user-7 --source-id src_4k2v8m1n0p3q5r7s",
      ]),
    );
}

function whose(command: Command): Command {
  return command.requiredOption("--user-id <id>", "the user").option("--source-id <id>", "only of this source");
}

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}
