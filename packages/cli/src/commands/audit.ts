/** `posthaste audit`: who changed what. */
import type { Command } from "commander";
import type { Context, Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { moment, queryOf, wholeNumber } from "../options.ts";
import type { Entry } from "../printer.ts";
import { followEntries } from "./follow-entries.ts";
import { printRead } from "./print-read.ts";

const PATH = "/v1/audit";
const COLUMNS = ["time", "actor", "way", "operation", "target", "changes"];
/** What a person can look through; `--limit` asks for more. */
const DEFAULT_LIMIT = 50;

interface AuditOptions {
  readonly actor?: string;
  readonly target?: string;
  readonly operation?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly follow?: boolean;
}

export function addAudit(program: Command, perform: Perform): void {
  program
    .command("audit")
    .description("who changed what, newest first; ends with 3 when nothing matches")
    .option("--actor <token>", "only changes by the token of this name or id")
    .option("--target <id>", "only changes of this")
    .option("--operation <name>", "only these, as the API's description names them: changeSource")
    .option("--since <time>", "only from this moment on: 10m ago, or ISO 8601", moment)
    .option("--until <time>", "only before this moment", moment)
    .option("--limit <n>", "at most this many", wholeNumber, DEFAULT_LIMIT)
    .option("--follow", "the newest, oldest first, and then each one that comes, until Ctrl-C")
    .action(({ limit, follow, ...filter }: AuditOptions, command: Command) =>
      perform(command, async (context) => {
        const { actor, target, operation, since, until } = filter;
        const query = queryOf({ actor, target, operation, since, until });
        if (follow === true)
          return followEntries(context, { path: PATH, query, limit, print: (of) => print(context, of) });
        return printRead(context, await context.api.listRead(PATH, limit, query), COLUMNS, { changes });
      }),
    )
    .addHelpText(
      "after",
      examples(["posthaste audit --since 1d", "posthaste audit --target dst_4k2v8m1n0p3q5r7s --limit 200 --json"]),
    );
}

function print({ printer }: Context, entries: readonly Entry[]): typeof EXIT.done {
  printer.list(entries, COLUMNS, { changes });
  return EXIT.done;
}

/** `name: Web -> Shop`, for each field. */
function changes({ changes: fields }: Entry): unknown {
  if (!Array.isArray(fields)) return null;
  return fields.map(({ field, from, to }) => `${field}: ${from ?? "-"} -> ${to ?? "-"}`).join("; ");
}
