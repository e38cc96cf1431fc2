/** `posthaste events`: why an event did not arrive. */
import { isDeepStrictEqual } from "node:util";
import type { Command } from "commander";
import { cellText } from "../cell.ts";
import type { Perform } from "../context.ts";
import { counted } from "../counted.ts";
import type { Entry } from "../entries.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT } from "../exit-code.ts";
import { queryOf } from "../options.ts";
import { startProgress } from "../progress.ts";
import { serverSentEvents } from "../server-sent-events.ts";
import { eventPath } from "./event-path.ts";
import { addFindEvents } from "./find-events.ts";
import { openPage, WEB } from "./open.ts";

const COLUMNS = ["time", "what", "topic", "partition", "offset", "sourceId", "destinationId", "detail"];

/** Every destination took it. */
const ARRIVED = ["delivered", "delivered_elsewhere"];

export function addEvents(program: Command, perform: Perform): void {
  const events = program.command("events").description("what became of what a source sent");

  events
    .command("why <message-id>")
    .description("why an event did not arrive; ends with 0 when every destination took it, else with 3")
    .option("--source-id <id>", "only the events of this source")
    .option("--origin <place>", "only the event at this place of the events, partition:offset: a repeat has its own")
    .option("--user-id <id>", "whose event it is: what is under way is then looked for among that user's alone")
    .option(...WEB)
    .action((messageId: string, { sourceId, origin, userId, web }: WhyOptions, command: Command) =>
      perform(command, async (context) => {
        if (web === true) return openPage(context, `events/${encodeURIComponent(messageId)}`);
        const { api, printer } = context;
        const verdict = await wholeVerdict((cursor) =>
          api.call("GET", eventPath(messageId, "", queryOf({ sourceId, origin, userId, cursor }))),
        );
        if (printer.isJson) printer.document(verdict);
        else printer.lines(linesOf(verdict));
        if (verdict.cut === true) printer.say("over 500 attempts are logged: the timeline has the newest 500");
        if (verdict.complete !== true) printer.say("control is still reading the log: what is newest may be missing");
        return hasArrived(verdict) ? EXIT.done : EXIT.no;
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste events why message-7",
        "posthaste events why message-7 --source-id src_4k2v8m1n0p3q5r7s --json",
        "posthaste events why message-7 --origin 1:77",
      ]),
    );
  addFindEvents(events, perform);
  addScanEvent(events, perform);
}

interface WhyOptions {
  readonly web?: boolean;
  readonly sourceId?: string;
  readonly origin?: string;
  readonly userId?: string;
}

/** The verdict with the destinations of all its pages; its sentence and timelines come from the first page. */
async function wholeVerdict(ask: (cursor: string | undefined) => Promise<Entry>): Promise<Entry> {
  const first = await ask(undefined);
  const events = listOf(first.events).map((event) => ({ ...event, destinations: [...listOf(event.destinations)] }));
  let cursor = first.nextCursor;
  while (typeof cursor === "string") {
    const page = await ask(cursor);
    for (const more of listOf(page.events)) {
      const held = events.find((event) => isDeepStrictEqual(nameOf(event), nameOf(more)));
      held?.destinations.push(...listOf(more.destinations));
    }
    cursor = page.nextCursor;
  }
  return { ...first, events, ...(first.nextCursor === undefined ? {} : { nextCursor: null }) };
}

function nameOf({ sourceId, origin }: Entry): readonly unknown[] {
  return [sourceId, origin];
}

/** A repeat of an event that arrived is no reason for a script to wait on. */
function hasArrived({ cause, events }: Entry): boolean {
  const causes = listOf(events).map((event) => String(event.cause));
  const others = causes.filter((each) => each !== "duplicate_of");
  return others.length > 0 ? others.every((each) => ARRIVED.includes(each)) : ARRIVED.includes(String(cause));
}

/** The sentence, each event's timeline, and a command that helps. */
function linesOf({ sentence, command, events }: Entry): readonly string[] {
  const lines = [cellText(sentence)];
  for (const event of listOf(events)) {
    lines.push("", wordsOf([event.sourceId, event.type, event.event, event.userKey]));
    for (const { time, what, destinationId, detail } of listOf(event.timeline)) {
      lines.push(`  ${wordsOf([time, what, destinationId, detail])}`);
    }
    for (const destination of listOf(event.destinations)) {
      // The worst destination's sentence stands at the top already, and its command at the end.
      if (cellText(destination.sentence) !== cellText(sentence)) lines.push(`  ${cellText(destination.sentence)}`);
      const next = destination.command;
      if (typeof next === "string" && next !== command) lines.push(`    Next: ${cellText(next)}`);
    }
  }
  if (typeof command === "string") lines.push("", `Next: ${cellText(command)}`);
  return lines;
}

/** The known values, in one line. */
function wordsOf(values: readonly unknown[]): string {
  return values
    .map(cellText)
    .filter((text) => text !== "")
    .join("  ");
}

function listOf(value: unknown): readonly Entry[] {
  return Array.isArray(value) ? value : [];
}

/** `posthaste events scan`: reads the topics themselves for a message id; the reading is control's. */
function addScanEvent(events: Command, perform: Perform): void {
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
