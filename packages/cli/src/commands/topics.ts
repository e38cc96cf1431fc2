/** `posthaste topics`: losses of records, and going on without them. */
import type { Command } from "commander";
import type { Context, Perform } from "../context.ts";
import { counted } from "../counted.ts";
import { type Entry, entriesOf } from "../entries.ts";
import { examples } from "../examples.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { sayNext } from "../next-commands.ts";
import { given } from "../options.ts";

const PATH = "/v1/topics/accept-loss";
const COLUMNS = ["topic", "partition", "from", "to", "records"];
/** Control reads offsets and records for each loss. */
const EXTRA_MS = 20_000;

export function addTopics(program: Command, perform: Perform): void {
  const topics = program.command("topics").description("records that were deleted before they were delivered");

  topics
    .command("accept-loss")
    .description(
      "let delivery go on without the deliveries whose records were deleted before their time; ends with 3 when " +
        "nothing is lost",
    )
    .option("--dry-run", "show the losses only")
    .action((options: { readonly dryRun?: boolean }, command: Command) =>
      perform(command, (context) => acceptLoss(context, options.dryRun === true)),
    )
    .addHelpText("after", examples(["posthaste topics accept-loss --dry-run", "posthaste topics accept-loss --yes"]));
}

/** 0 when the losses are accepted or were shown, 3 when there are none. */
async function acceptLoss(context: Context, isDryRun: boolean): Promise<ExitCode> {
  const { api, printer, confirm, confirmTyped } = context;
  const found = entriesOf((await api.call("POST", PATH, {}, EXTRA_MS)).losses);
  if (found.length === 0) {
    printer.list([], COLUMNS);
    printer.say("nothing is lost");
    return EXIT.no;
  }
  printer.list(found, COLUMNS);
  if (isDryRun) return EXIT.done;
  const lost = found.reduce((sum, { records }) => sum + Number(records), 0);
  const deliveries = lost === 1 ? "1 delivery" : `${lost} deliveries`;
  await confirm(`Go on without ${deliveries} in ${counted(found.length, "range")}? They are not sent any more.`);
  await confirmTyped("Their records cannot be brought back.", String(lost), "their number");
  await api.call("POST", PATH, given({ losses: found.map(toRange) }), EXTRA_MS);
  printer.say(`accepted the loss of ${deliveries}; delivery goes on at its next start`);
  sayNext(printer, [[["audit", "--operation", "acceptLoss"], "shows who accepted what"]]);
  return EXIT.done;
}

function toRange({ topic, partition, from, to }: Entry): Entry {
  return { topic, partition, from, to };
}
