/** `posthaste destinations health`: how well destinations are, the worst first, or one of them. */
import type { Command } from "commander";
import type { Perform } from "../context.ts";
import type { Entry } from "../entries.ts";
import { examples } from "../examples.ts";
import { EXIT } from "../exit-code.ts";
import { queryOf, wholeNumber } from "../options.ts";
import { printRead } from "./print-read.ts";
import { reasonWords } from "./status-lines.ts";

const PATH = "/v1/health/destinations";
const COLUMNS = [
  "state",
  "name",
  "destinationId",
  "since",
  "why",
  "success",
  "p99Ms",
  "waiting.total",
  "deadLetters",
  "deliveredSince",
];

interface HealthOptions {
  readonly state?: string;
  readonly name?: string;
  readonly limit?: number;
}

/** Whether there is a failure to tell, or the end of one. */
function isReported({ reason, deliversAgainSince }: Entry): boolean {
  return [reason, deliversAgainSince].some((each) => each !== null && each !== undefined);
}

export function addDestinationHealth(destinations: Command, perform: Perform): void {
  destinations
    .command("health [id]")
    .description("how well destinations are, the worst first; or one of them, with each of its URLs")
    .option("--state <state>", "only those that are open, failing, healthy or off")
    .option("--name <part>", "only those whose name has this in it")
    .option("--limit <n>", "at most this many", wholeNumber)
    .action((id: string | undefined, { state, name, limit }: HealthOptions, command: Command) =>
      perform(command, async (context) => {
        const { api, printer } = context;
        if (id !== undefined) {
          printer.document(await api.call("GET", `${PATH}/${encodeURIComponent(id)}`));
          return EXIT.done;
        }
        const found = await api.listRead(PATH, limit ?? Number.POSITIVE_INFINITY, queryOf({ state, name }));
        return printRead(context, found, COLUMNS, {
          why: (entry) => (isReported(entry) ? reasonWords(entry) : ""),
        });
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste destinations health",
        "posthaste destinations health --state failing",
        "posthaste destinations health dst_4k2v8m1n0p3q5r7s --json",
      ]),
    );
}
