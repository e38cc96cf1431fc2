/** `posthaste sources`: senders of calls. */
import { type Command, Option } from "commander";
import type { Perform } from "../context.ts";
import { parseDuration } from "../duration.ts";
import type { Entry } from "../entries.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import { given } from "../options.ts";
import { addSourceCalls } from "./source-calls.ts";
import { addGet, addList, addRemove } from "./stored-commands.ts";

const PATH = "/v1/sources";
/** As many as control shows to a token without the scope write. */
const SHOWN_CHARACTERS = 4;
const COLUMNS = ["id", "name", "kind", "enabled", "writeKey", "createdAt"];

export function addSources(program: Command, perform: Perform): void {
  const sources = program.command("sources").description("what sends calls, and the write keys it sends them with");

  const stored = { group: sources, perform, path: PATH };
  addList({
    ...stored,
    columns: COLUMNS,
    description: "list sources, oldest first",
    options: [new Option("--show-keys", "write keys of servers too, of which four characters are shown")],
    cells: { writeKey: (entry, { showKeys }) => (showKeys === true ? entry.writeKey : shownKey(entry)) },
    examples: ["posthaste sources list", "posthaste sources list --json --limit 10"],
  });

  addGet({ ...stored, description: "show one source", examples: ["posthaste sources get src_4k2v8m1n0p3q5r7s"] });

  addCreate(sources, perform);
  addUpdate(sources, perform);
  addRotateWriteKey(sources, perform);
  addSourceCalls(sources, perform);

  addRemove({
    ...stored,
    kind: "source",
    description: "remove sources; their write keys are refused from then on",
    examples: ["posthaste sources remove src_4k2v8m1n0p3q5r7s"],
  });
}

/** The key of a server is a secret; those of pages and apps are in the hands of their users. */
function shownKey({ kind, writeKey }: Entry): unknown {
  return kind === "server" && typeof writeKey === "string" ? `${writeKey.slice(0, SHOWN_CHARACTERS)}…` : writeKey;
}

function addCreate(sources: Command, perform: Perform): void {
  sources
    .command("create")
    .description("make a source and its write key")
    .requiredOption("--name <name>", "a name for people")
    .requiredOption("--kind <kind>", "web, mobile or server")
    .option("--no-enabled", "take no calls yet")
    .action((options: { name: string; kind: string; enabled: boolean }, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const { name, kind, enabled } = options;
        const source = await api.call("POST", PATH, { name, kind, enabled });
        printer.document(source);
        sayNext(printer, [
          [["sources", "sample", source.id], "sends a call as it would"],
          [["sources", "remove", source.id], "undoes it"],
        ]);
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(['posthaste sources create --name "Web shop" --kind web']));
}

function addUpdate(sources: Command, perform: Perform): void {
  sources
    .command("update <id>")
    .description("change a source; what is not named stays")
    .option("--name <name>", "a name for people")
    .option("--kind <kind>", "web, mobile or server")
    .option("--enabled", "take calls")
    .option("--no-enabled", "take no calls")
    .action((id: string, options: { name?: string; kind?: string; enabled?: boolean }, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const { name, kind, enabled } = options;
        const patch = given({ name, kind, enabled });
        if (Object.keys(patch).length === 0) throw new CliError(EXIT.usage, "name at least one thing to change");
        printer.document(await api.call("PATCH", `${PATH}/${encodeURIComponent(id)}`, patch));
        sayNext(printer, [
          enabled === false
            ? [["sources", "update", id, "--enabled"], "has it take calls again"]
            : [["sources", "calls", id], "shows what it sends"],
        ]);
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(["posthaste sources update src_4k2v8m1n0p3q5r7s --no-enabled"]));
}

function addRotateWriteKey(sources: Command, perform: Perform): void {
  sources
    .command("rotate-write-key <id>")
    .description("make a new write key; the old one is taken for some time still")
    .option("--old-key-for <duration>", "how long the old key is still taken; 0s refuses it at once", "1d")
    .action((id: string, options: { oldKeyFor: string }, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const graceMs = parseDuration(options.oldKeyFor);
        if (graceMs === undefined)
          throw new CliError(EXIT.usage, "--old-key-for: expected a duration such as 0s, 2h or 7d");
        const body = { oldKeySeconds: Math.ceil(graceMs / 1000) };
        printer.document(await api.call("POST", `${PATH}/${encodeURIComponent(id)}/write-key`, body));
        sayNext(printer, [[["sources", "get", id], "shows until when the old key is taken"]]);
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(["posthaste sources rotate-write-key src_4k2v8m1n0p3q5r7s --old-key-for 2h"]));
}
