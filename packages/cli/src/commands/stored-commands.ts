/** The commands that are alike for all that control keeps under an id: list, get and remove. */
import type { Command, Option } from "commander";
import type { Perform } from "../context.ts";
import type { Entry } from "../entries.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { namesBeside } from "../names.ts";
import { wholeNumber } from "../options.ts";
import { openPage, WEB } from "./open.ts";
import { type RemoveOptions, removeEach } from "./remove.ts";

export interface StoredCommand {
  readonly group: Command;
  readonly perform: Perform;
  /** Of the API: `/v1/sources`. */
  readonly path: string;
  readonly description: string;
  readonly examples: readonly string[];
}

export interface ListCommand extends StoredCommand {
  readonly columns: readonly string[];
  /** The default of `--limit`; all by default. */
  readonly limit?: number;
  /** The content of a column, where it is not the field of that name. */
  readonly cells?: Readonly<Record<string, (entry: Entry, options: ListOptions) => unknown>>;
  /** Its own, beside `--limit`. */
  readonly options?: readonly Option[];
}

interface ListOptions {
  readonly limit?: number;
  readonly showKeys?: boolean;
}

/** `list`, with `--limit`. */
export function addList(list: ListCommand): void {
  const { group, perform, path, description, columns, cells = {}, limit, options: own = [], examples: shown } = list;
  const command = group.command("list").description(description);
  for (const option of own) command.addOption(option);
  command
    .option("--limit <n>", "at most this many", wholeNumber, limit)
    .action((options: ListOptions, called: Command) =>
      perform(called, async (context) => {
        const { api, printer } = context;
        const made = Object.fromEntries(
          Object.entries(cells).map(([name, cell]) => [name, (entry: Entry) => cell(entry, options)]),
        );
        const entries = await api.list(path, options.limit ?? Number.POSITIVE_INFINITY);
        printer.list(entries, columns, { ...(await namesBeside(context, columns)), ...made });
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(shown));
}

interface WebOptions {
  readonly web?: boolean;
}

/** The console's page of `/v1/sources` is `sources`. */
function pageOf(path: string): string {
  return path.replace(/^\/v1\//, "");
}

/** `get <id>`, with `--web`. */
export function addGet({ group, perform, path, description, examples: shown }: StoredCommand): void {
  group
    .command("get <id>")
    .description(description)
    .option(...WEB)
    .action((id: string, { web }: WebOptions, command: Command) =>
      perform(command, async (context) => {
        if (web === true) return openPage(context, `${pageOf(path)}/${encodeURIComponent(id)}`);
        const { api, printer } = context;
        printer.document(await api.call("GET", `${path}/${encodeURIComponent(id)}`));
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(shown));
}

/** `remove <ids...>`, with `--dry-run`. `kind`: a word for one of them, for people. */
export function addRemove(command: StoredCommand & Pick<RemoveOptions, "kind" | "extraMs">): void {
  const { group, perform, path, kind, description, extraMs = 0, examples: shown } = command;
  group
    .command("remove <ids...>")
    .description(description)
    .option("--dry-run", "show what would be removed")
    .action((ids: string[], options: { dryRun?: boolean }, called: Command) =>
      perform(called, (context) => removeEach(context, { kind, path, ids, dryRun: options.dryRun === true, extraMs })),
    )
    .addHelpText("after", examples(shown));
}
