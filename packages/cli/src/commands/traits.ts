/** `posthaste traits`: values of users that somebody else works out. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { startProgress } from "../progress.ts";
import { addList } from "./stored-commands.ts";

const PATH = "/v1/computed-traits";
const COLUMNS = ["name", "trait", "sourceId", "size", "lastSync.endedAt"];

export function addTraits(program: Command, perform: Perform): void {
  const traits = program.command("traits").description("computed traits: values of users, each told when it changes");

  const stored = { group: traits, perform, path: PATH };
  addList({
    ...stored,
    columns: COLUMNS,
    description: "list computed traits, oldest first",
    examples: ["posthaste traits list"],
  });

  traits
    .command("put <name> <file>")
    .description('set values: a file with a user a line ({"userId": "user-7", "value": 12.5}), - for standard input')
    .requiredOption("--source-id <id>", "the source that the identifies are of")
    .action((name: string, file: string, options: { sourceId: string }, command: Command) =>
      perform(command, async (context) => {
        const query = new URLSearchParams({ sourceId: options.sourceId });
        const progress = startProgress(context);
        const chunks = await context.openFile(file);
        const sent = context.api.upload(`${PATH}/${encodeURIComponent(name)}?${query}`, chunks, (lines) =>
          progress.report("values sent:", lines),
        );
        context.printer.document(await sent.finally(progress.end));
        return EXIT.done;
      }),
    )
    .addHelpText(
      "after",
      examples(["posthaste traits put lifetime_value values.ndjson --source-id src_4k2v8m1n0p3q5r7s"]),
    );
}
