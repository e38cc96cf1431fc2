/** `posthaste audit`: changes with their authors. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import type { Entry } from "../entries.ts";
import { examples } from "../examples.ts";
import { moment, queryOf, wholeNumber } from "../options.ts";
import { type FollowedList, followRows, withFollow } from "./follow.ts";
import { printRead } from "./print-read.ts";

const PATH = "/v1/audit";
const COLUMNS = ["time", "actor", "way", "operation", "target", "changes"];
/** As many as a person can look through; `--limit` asks for more. */
const DEFAULT_LIMIT = 50;

interface AuditOptions extends FollowedList {
  readonly actor?: string;
  readonly target?: string;
  readonly operation?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

export function addAudit(program: Command, perform: Perform): void {
  withFollow(program.command("audit"), ["until"])
    .description("who changed what, newest first; ends with 3 when nothing matches")
    .option("--actor <token>", "only changes by the token of this name or id")
    .option("--target <id>", "only changes of this")
    .option("--operation <name>", "only these, as the API's description names them: changeSource")
    .option("--since <time>", "only from this moment on: 10m ago, or ISO 8601", moment)
    .option("--until <time>", "only before this moment", moment)
    .option("--limit <n>", "at most this many", wholeNumber, DEFAULT_LIMIT)
    .action(({ limit, follow, giveUp, ...filter }: AuditOptions, command: Command) =>
      perform(command, async (context) => {
        const { actor, target, operation, since, until } = filter;
        const query = queryOf({ actor, target, operation });
        const list = () => context.api.listRead(PATH, limit, { ...query, ...queryOf({ since, until }) });
        if (follow !== true) return printRead(context, await list(), COLUMNS, { changes });
        return followRows(context, {
          ...{ topic: "audit", query, giveUp, columns: COLUMNS, made: { changes } },
          before: async () => (await list()).entries.toReversed(),
          // A change without an entry has no id, and never comes live.
          isNew: ({ id }, before) => Number(id) > Number(before.findLast((each) => each.id !== null)?.id ?? -1),
        });
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste audit --since 1d",
        "posthaste audit --target dst_4k2v8m1n0p3q5r7s --limit 200 --json",
        "posthaste audit --follow --give-up 5m",
      ]),
    );
}

/** Of a secret that was there before and is another now, control tells no more than this, on both sides. */
const CHANGED = "changed";

/** `name: Web -> Shop`, for each field; `sharedSecret: changed` of a secret. */
function changes({ changes: fields }: Entry): unknown {
  if (!Array.isArray(fields)) return null;
  return fields
    .map(({ field, from, to }) =>
      from === CHANGED && to === CHANGED ? `${field}: ${CHANGED}` : `${field}: ${from ?? "-"} -> ${to ?? "-"}`,
    )
    .join("; ");
}
