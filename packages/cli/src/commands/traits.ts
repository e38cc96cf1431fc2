/** `posthaste traits`: values of users that somebody else works out. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import { addList } from "./stored-commands.ts";
import { uploadLines } from "./upload-lines.ts";

const PATH = "/v1/computed-traits";
const COLUMNS = ["name", "trait", "sourceId", "size", "lastSync.endedAt"];
/** Traits among which the one that is put is looked for. */
const LOOKED_THROUGH = 1000;

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
        const { sourceId } = options;
        const path = `${PATH}/${encodeURIComponent(name)}?${new URLSearchParams({ sourceId })}`;
        const find = async () => {
          const traits = await context.api.list(PATH, LOOKED_THROUGH);
          return traits.find((trait) => trait.name === name && trait.sourceId === sourceId);
        };
        context.printer.document(await uploadLines(context, { path, file, noun: "values", find }));
        sayNext(context.printer, [[["traits", "list"], "shows how many users have a value"]]);
        return EXIT.done;
      }),
    )
    .addHelpText(
      "after",
      examples(["posthaste traits put lifetime_value values.ndjson --source-id src_4k2v8m1n0p3q5r7s"]),
    );
}
