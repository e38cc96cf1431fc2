/** `posthaste events scan`: reads the topics themselves for a message id; the reading is control's. */
import type { Command } from "commander";
import { cellText } from "../cell.ts";
import type { Perform } from "../context.ts";
import { counted } from "../counted.ts";
import type { Entry } from "../entries.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT } from "../exit-code.ts";
import { startProgress } from "../progress.ts";
import { serverSentEvents } from "../server-sent-events.ts";
import { eventPath } from "./event-path.ts";

const COLUMNS = ["time", "what", "topic", "partition", "offset", "sourceId", "destinationId", "detail"];

export function addScanEvent(events: Command, perform: Perform): void {
  events
    .command("scan <message-id>")
    .description("everything that the topics hold under a message id, as control reads them; ends with 3 for nothing")
    .action((messageId: string, _: object, command: Command) =>
      perform(command, async ({ api, printer, terminal }) => {
        const progress = startProgress({ terminal, printer });
        let last: Entry | null = null;
        const { chunks } = await api.download(eventPath(messageId, "/scan"));
        for await (const { event, data } of serverSentEvents(chunks)) {
          const found: Entry = JSON.parse(data);
          if (event === "find") {
            progress.end();
            if (printer.isJson) printer.list([found], COLUMNS);
            else printer.lines([COLUMNS.map((column) => cellText(found[column])).join("\t")]);
          } else progress.report("records read:", Number(found.records), Number(found.of));
          if (event === "done") last = found;
        }
        progress.end();
        if (last === null)
          throw new CliError(EXIT.failed, "the scan broke off in the middle: what was found is not all");
        printer.say(`${Number(last.finds)} found in ${counted(Number(last.records), "record")}`);
        return Number(last.finds) > 0 ? EXIT.done : EXIT.no;
      }),
    )
    .addHelpText("after", examples(["posthaste events scan message-7", "posthaste events scan message-7 --json"]));
}
