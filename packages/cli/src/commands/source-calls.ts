/** `posthaste sources calls` and `sample`: what a source sent lately, and a call to try it with. */
import type { Command } from "commander";
import { cellText } from "../cell.ts";
import type { Context, Perform } from "../context.ts";
import { examples } from "../examples.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { millisecondsOf, moment, queryOf, wholeNumber } from "../options.ts";
import type { Entry } from "../entries.ts";
import { GIVE_UP_MS, keepAsking } from "./keep-asking.ts";

const COLUMNS = ["time", "what", "code", "status", "type", "event", "userKey", "messageIds"];
const LOOK_MS = 1_000;
const MOST = 200;
/** Entries that are remembered as printed: more than one answer has. */
const REMEMBERED = 2_000;

interface CallsOptions {
  readonly since?: string;
  readonly limit: number;
  readonly follow?: boolean;
  readonly giveUp: number;
}

export function addSourceCalls(sources: Command, perform: Perform): void {
  sources
    .command("calls <id>")
    .description(
      "the newest calls of a source, taken or not, and what to change; of unknown: those without a known key",
    )
    .option("--since <time>", "count from this moment on: 10m ago, or ISO 8601 (default: an hour ago)", moment)
    .option("--limit <n>", "at most this many, up to 200", wholeNumber, 50)
    .option("--follow", "the newest, oldest first, and then those that come, until Ctrl-C")
    .option(
      "--give-up <duration>",
      "under --follow: end when control does not answer for so long",
      millisecondsOf,
      GIVE_UP_MS,
    )
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
  if (!printer.isJson) for (const line of countsOf(answer.counts)) printer.say(line);
  if (answer.complete !== true) printer.say("control is still reading the log: what is newest may be missing");
  return EXIT.done;
}

/** Each entry once, in the order in which they came. */
async function follow(context: Context, id: string, options: CallsOptions): Promise<ExitCode> {
  const seen = new Set<string>();
  let limit = options.limit;
  return keepAsking(context, {
    everyMs: LOOK_MS,
    giveUpMs: options.giveUp,
    ask: async () => {
      const { data } = await ask(context, id, { ...options, limit });
      limit = MOST;
      const fresh = entriesOf(data).filter((entry) => !seen.has(String(entry.id)));
      for (const entry of fresh.toReversed()) seen.add(String(entry.id));
      for (const old of [...seen].slice(0, Math.max(0, seen.size - REMEMBERED))) seen.delete(old);
      if (fresh.length > 0) context.printer.list(fresh.toReversed(), COLUMNS);
      return false;
    },
  });
}

function countsOf(counts: unknown): readonly string[] {
  if (!isEntry(counts)) return [];
  const last = counts.lastAcceptedAt === null ? "" : `, the last at ${cellText(counts.lastAcceptedAt)}`;
  return [
    `since ${cellText(counts.since)}: ${cellText(counts.accepted)} taken${last}`,
    ...entriesOf(counts.rejected).map((each) => `calls not taken: ${adviceOf(each)}`),
    ...entriesOf(counts.refused).map((each) => `requests refused: ${adviceOf(each)}`),
  ];
}

function adviceOf({ code, count, advice }: Entry): string {
  return `${cellText(code)} x${cellText(count)}. ${cellText(advice)}`;
}

function entriesOf(value: unknown): readonly Entry[] {
  return Array.isArray(value) ? value.filter(isEntry) : [];
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null;
}
