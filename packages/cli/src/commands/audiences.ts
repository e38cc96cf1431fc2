/** `posthaste audiences`: users and their audiences. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import { collect, given } from "../options.ts";
import { addGet, addList, addRemove } from "./stored-commands.ts";
import { uploadLines } from "./upload-lines.ts";

const PATH = "/v1/audiences";
const COLUMNS = ["id", "name", "trait", "sourceId", "size", "lastSync.endedAt"];
/** A removal waits for a sync that runs, and forgets each user: of millions that takes minutes. */
const REMOVING_MS = 30 * 60_000;

export function addAudiences(program: Command, perform: Perform): void {
  const audiences = program.command("audiences").description("lists of users, each told as a trait when it changes");
  addReading(audiences, perform);
  addMaking(audiences, perform);
  addMembers(audiences, perform);
}

function addReading(audiences: Command, perform: Perform): void {
  const stored = { group: audiences, perform, path: PATH };
  addList({
    ...stored,
    columns: COLUMNS,
    description: "list audiences, oldest first",
    examples: ["posthaste audiences list", "posthaste audiences list --json"],
  });

  addGet({
    ...stored,
    description: "show one audience: its size, its last sync, and how many identifies wait",
    examples: ["posthaste audiences get aud_4k2v8m1n0p3q5r7s"],
  });
}

function addMaking(audiences: Command, perform: Perform): void {
  audiences
    .command("create")
    .description("make an audience; nobody is in it yet")
    .requiredOption("--name <name>", "a name for people; the trait is its snake_case form")
    .requiredOption("--source-id <id>", "the source that the identifies are of")
    .action((options: { name: string; sourceId: string }, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const { name, sourceId } = options;
        const made = await api.call("POST", PATH, { name, sourceId });
        printer.document(made);
        sayNext(printer, [
          [["audiences", "get", made.id], "shows how many are in it"],
          [["audiences", "remove", made.id], "undoes it"],
        ]);
        return EXIT.done;
      }),
    )
    .addHelpText(
      "after",
      examples(['posthaste audiences create --name "VIP customers" --source-id src_4k2v8m1n0p3q5r7s']),
    );

  addRemove({
    group: audiences,
    perform,
    path: PATH,
    kind: "audience",
    description: "remove audiences; nobody is told of it",
    extraMs: REMOVING_MS,
    examples: ["posthaste audiences remove aud_4k2v8m1n0p3q5r7s"],
  });
}

function addMembers(audiences: Command, perform: Perform): void {
  audiences
    .command("sync <id> <file>")
    .description(
      'the whole membership: a file with a user a line ("user-7", 17 or {"userId": "user-7"}), - for standard input',
    )
    .action((id: string, file: string, _: object, command: Command) =>
      perform(command, async (context) => {
        const find = () => context.api.call("GET", pathOf(id));
        const upload = { path: `${pathOf(id)}/members`, file, noun: "users", find };
        context.printer.document(await uploadLines(context, upload));
        sayNext(context.printer, [
          [["audiences", "get", id], "shows how many are in it, and how many identifies wait"],
        ]);
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(["posthaste audiences sync aud_4k2v8m1n0p3q5r7s members.ndjson"]));

  audiences
    .command("members <id>")
    .description("add and remove users, or tell whether one is a member; ends with 3 when it is none")
    .option("--add <ids>", "users who come, divided by commas", collect)
    .option("--remove <ids>", "users who go, divided by commas", collect)
    .option("--user-id <id>", "tell whether this one is a member")
    .action((id: string, options: MembersOptions, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const { add, remove, userId } = options;
        const isChange = add !== undefined || remove !== undefined;
        if (isChange === (userId !== undefined)) {
          throw new CliError(EXIT.usage, "name users by --add and --remove, or one by --user-id");
        }
        if (userId === undefined) {
          printer.document(await api.call("PATCH", `${pathOf(id)}/members`, given({ add, remove })));
          const [first] = [...(add ?? []), ...(remove ?? [])];
          sayNext(printer, [[["audiences", "members", id, "--user-id", first], "tells whether that one is in it now"]]);
          return EXIT.done;
        }
        const found = await api.call("GET", `${pathOf(id)}/members/${encodeURIComponent(userId)}`);
        printer.document(found);
        return found.member === true ? EXIT.done : EXIT.no;
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste audiences members aud_4k2v8m1n0p3q5r7s --add ada,bob --remove cyd",
        "posthaste audiences members aud_4k2v8m1n0p3q5r7s --user-id ada",
      ]),
    );
}

interface MembersOptions {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly userId?: string;
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
