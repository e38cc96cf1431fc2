/** `posthaste sources calls` and `sample`: a source's recent calls, and a call to try it with. */
import type { Command } from "commander";
import { cellText } from "../cell.ts";
import type { Context, Perform } from "../context.ts";
import { type Entry, entriesOf, isEntry } from "../entries.ts";
import { examples } from "../examples.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { moment, queryOf, wholeNumber } from "../options.ts";
import { type FollowedList, followRows, withFollow } from "./follow.ts";

const COLUMNS = ["time", "what", "code", "status", "type", "event", "userKey", "messageIds"];
const MOST = 200;

interface CallsOptions extends FollowedList {
  readonly since?: string;
  readonly limit: number;
}

export function addSourceCalls(sources: Command, perform: Perform): void {
  withFollow(sources.command("calls <id>"), [], "and what comes from now on, of taken calls twenty a second")
    .description(
      "the newest calls of a source, taken or not, and what to change; of unknown: those without a known key",
    )
    .option("--since <time>", "count from this moment on: 10m ago, or ISO 8601 (default: an hour ago)", moment)
    .option("--limit <n>", "at most this many, up to 200", wholeNumber, 50)
    .action((id: string, options: CallsOptions, command: Command) =>
      perform(command, (context) =>
        options.follow === true ? follow(context, id, options) : show(context, id, options),
      ),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste sources calls src_4k2v8m1n0p3q5r7s",
        "posthaste sources calls src_4k2v8m1n0p3q5r7s --since 1d --json",
        "posthaste sources calls src_4k2v8m1n0p3q5r7s --follow --give-up 5m",
      ]),
    );

  sources
    .command("sample <id>")
    .description("send one made-up call to ingest with the source's write key; ends with 3 when it was not taken")
    .option("--type <type>", "identify, track, page, screen, group or alias", "track")
    .action((id: string, { type }: { readonly type: string }, command: Command) =>
      perform(command, async ({ api, printer }) => {
        const sent = await api.call("POST", `${pathOf(id)}/sample`, { type });
        printer.document(sent);
        if (sent.taken !== true) return EXIT.no;
        printer.say(`look at it: posthaste events why ${cellText(sent.messageId)}`);
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(["posthaste sources sample src_4k2v8m1n0p3q5r7s --type identify"]));
}

function pathOf(id: string): string {
  return `/v1/sources/${encodeURIComponent(id)}`;
}

async function ask({ api }: Context, id: string, { since, limit }: CallsOptions): Promise<Entry> {
  const query = new URLSearchParams(queryOf({ since, limit: String(Math.min(limit, MOST)) }));
  return api.call("GET", `${pathOf(id)}/calls?${query}`);
}

async function show(context: Context, id: string, options: CallsOptions): Promise<ExitCode> {
  const { printer } = context;
  const answer = await ask(context, id, options);
  printer.list(entriesOf(answer.data), COLUMNS);
  if (!printer.isJson) for (const line of countsOf(answer)) printer.say(line);
  if (answer.complete !== true) printer.say("control is still reading the log: what is newest may be missing");
  return EXIT.done;
}

/** The newest, the oldest of them first, and then those that come, each once. */
function follow(context: Context, id: string, options: CallsOptions): Promise<never> {
  return followRows(context, {
    ...{ topic: "calls", query: { sourceId: id }, giveUp: options.giveUp, columns: COLUMNS },
    before: async () => entriesOf((await ask(context, id, options)).data).toReversed(),
    isNew: (row, before) => before.every((each) => each.id !== row.id),
  });
}

function countsOf({ counts, data }: Entry): readonly string[] {
  if (!isEntry(counts)) return [];
  const last = counts.lastAcceptedAt === null ? "" : `, the last at ${cellText(counts.lastAcceptedAt)}`;
  // Ingest counts ten seconds late: "0 taken" above a taken call would be a riddle.
  const behind = isBehind(counts, entriesOf(data));
  const taken = behind && counts.accepted === 0 ? "" : `${cellText(counts.accepted)} taken${last}`;
  const later = behind ? "the newest taken calls are counted within ten seconds" : "";
  return [
    `since ${cellText(counts.since)}: ${[taken, later].filter((each) => each !== "").join("; ")}`,
    ...entriesOf(counts.rejected).map((each) => `calls not taken: ${adviceOf(each)}`),
    ...entriesOf(counts.refused).map((each) => `requests refused: ${adviceOf(each)}`),
  ];
}

/** Ingest writes its counts every ten seconds at the most, where the calls themselves are read as they come. */
function isBehind({ lastAcceptedAt }: Entry, calls: readonly Entry[]): boolean {
  const countedTo = cellText(lastAcceptedAt);
  return calls.some(({ what, time }) => what === "taken" && cellText(time) > countedTo);
}

function adviceOf({ code, count, advice }: Entry): string {
  return `${cellText(code)} x${cellText(count)}. ${cellText(advice)}`;
}
