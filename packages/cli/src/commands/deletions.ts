/** `posthaste deletions`: tell receivers to delete a user. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { collect, given } from "../options.ts";

export function addDeletions(program: Command, perform: Perform): void {
  const deletions = program.command("deletions").description("tell receivers to delete a user");

  deletions
    .command("create")
    .description("send a delete event for every source that has a destination enabled; ends with 3 when none has")
    .requiredOption("--user-id <id>", "whose data is to be deleted")
    .option("--source-ids <ids>", "only these sources, divided by commas", collect)
    .action((options: { userId: string; sourceIds?: readonly string[] }, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const { userId, sourceIds } = options;
        const deletion = await api.call("POST", "/v1/deletions", given({ userId, sourceIds }));
        printer.document(deletion);
        if (deletion.notifications !== 0) return EXIT.done;
        printer.say("nobody is notified: no source named has an enabled destination");
        return EXIT.no;
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste deletions create --user-id user-7",
        "posthaste deletions create --user-id user-7 --source-ids src_4k2v8m1n0p3q5r7s",
      ]),
    );
}
