/** `posthaste deliveries`: the delivery log. */
import { type Command, Option } from "commander";
import type { Perform } from "../context.ts";
import type { Entry } from "../entries.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT } from "../exit-code.ts";
import { given, moment, queryOf, wholeNumber } from "../options.ts";
import { type FollowedList, followRows, withFollow } from "./follow.ts";
import { printRead } from "./print-read.ts";

const COLUMNS = ["time", "destinationId", "messageId", "type", "attempt", "outcome", "answers"];

const LATEST_COLUMNS = ["time", "destinationId", "messageId", "type", "state", "attempts", "answered", "due"];

/** As many as a person can look through; `--limit` asks for more. */
const DEFAULT_LIMIT = 50;

interface DeliveryOptions extends FollowedList {
  readonly latest?: boolean;
  readonly state?: string;
  readonly destinationId?: string;
  readonly outcome?: string;
  readonly messageId?: string;
  readonly type?: string;
  readonly sourceId?: string;
  readonly userId?: string;
  readonly event?: string;
  readonly replayId?: string;
  readonly attempt?: string;
  readonly error?: string;
  readonly statusClass?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

export function addDeliveries(program: Command, perform: Perform): void {
  const deliveries = withFollow(program.command("deliveries"), ["since", "until", "limit", "latest", "state"])
    .description("what was sent and what came of it, newest first; ends with 3 when nothing matches")
    .option("--destination-id <id>", "only those for this destination")
    .option("--outcome <outcome>", "only those that came to delivered, retryable or permanent")
    .option("--message-id <id>", "only those with this X-Message-Id")
    .option("--type <type>", "only those of events of this type, such as track")
    .option("--source-id <id>", "only those of events of this source")
    .option("--user-id <id>", "only those of events of this user")
    .option("--event <name>", "only those of events of this name")
    .option("--replay-id <id>", "only those of this replay")
    .option("--attempt <n>", "only the nth attempts of deliveries")
    .option("--error <error>", "only those where a URL failed so: timeout, 503")
    .option("--status-class <class>", "only those where a URL answered so: 5xx")
    .option("--latest", "each delivery once, with how it stands and what its attempts were answered")
    .addOption(
      new Option("--state <state>", "of --latest only those that stand so: dead_letter").implies({ latest: true }),
    )
    .option("--since <time>", "only from this moment on: 10m ago, or ISO 8601", moment)
    .option("--until <time>", "only before this moment", moment)
    .option("--limit <n>", "at most this many", wholeNumber, DEFAULT_LIMIT)
    .action(({ limit, follow, giveUp, latest, ...filter }: DeliveryOptions, command: Command) =>
      perform(command, async (context) => {
        const query = queryOf({ ...filter });
        if (follow === true) {
          return followRows(context, { topic: "deliveries", query, giveUp, columns: COLUMNS, made: { answers } });
        }
        if (latest === true) {
          const deliveries = await context.api.listRead("/v1/deliveries/latest", limit, query);
          return printRead(context, deliveries, LATEST_COLUMNS, { answered });
        }
        const list = await context.api.listRead("/v1/deliveries", limit, query);
        return printRead(context, list, COLUMNS, { answers });
      }),
    )
    .addHelpText(
      "after",
      examples([
        "posthaste deliveries --outcome permanent --since 10m",
        "posthaste deliveries --destination-id dst_4k2v8m1n0p3q5r7s --limit 200 --json",
        "posthaste deliveries --message-id message-7",
        "posthaste deliveries --user-id user-7 --status-class 5xx",
        "posthaste deliveries --latest --state waiting_retry",
        "posthaste deliveries --follow --outcome retryable --json",
      ]),
    );
  addResend(deliveries, perform);
}

/** `503 in 12.3 ms at https://…`, for each URL. */
function answers({ urls }: Entry): unknown {
  if (!Array.isArray(urls)) return null;
  return urls
    .map(({ url, status, error, durationMs }) => `${status ?? error} in ${durationMs} ms at ${url}`)
    .join("; ");
}

/** `503,503,timeout`: the answer to each attempt, with a plus between several URLs; oldest first. */
function answered({ answers: tried, earlier }: Entry): unknown {
  if (!Array.isArray(tried)) return null;
  const each = tried.map(({ urls }) => urls.join("+"));
  return [...(Number(earlier) > 0 ? [`(${earlier} earlier)`] : []), ...each].join(",");
}

interface ResendOptions {
  readonly destinationId?: string;
  readonly sourceId?: string;
}

const HINT = "posthaste deliveries resend --help shows what there is";

/** `posthaste deliveries resend`: one delivery again, now, by hand. */
function addResend(deliveries: Command, perform: Perform): void {
  deliveries
    .command("resend <messageId> [destinationId]")
    .description("send one delivery again, now; ends with 3 where its destination is off or its record is gone")
    .option("--destination-id <id>", "the destination, where it is not in place")
    .option("--source-id <id>", "where two sources sent the same message id")
    .action((messageId: string, inPlace: string | undefined, _: object, command: Command) =>
      perform(command, async ({ api, printer }) => {
        // The leaf has the options too, and commander gives them to that one.
        const { sourceId, destinationId: named } = command.optsWithGlobals<ResendOptions>();
        if (inPlace !== undefined && named !== undefined && inPlace !== named)
          throw new CliError(EXIT.usage, `${inPlace} and --destination-id ${named} are two destinations: name one`);
        const destinationId = inPlace ?? named;
        if (destinationId === undefined)
          throw new CliError(EXIT.usage, "name the destination to send to", { hint: HINT });
        const body = given({ messageId, destinationId, sourceId });
        const answer = await api.call("POST", "/v1/deliveries/resend", body);
        printer.document(answer);
        if (answer.copyWaits === true) printer.say("a copy that waits for a retry stays, and is sent when it is due");
        printer.say(`  posthaste deliveries --replay-id ${answer.replayId}    shows what comes of it`);
        return EXIT.done;
      }),
    )
    .addHelpText("after", examples(["posthaste deliveries resend message-7 dst_4k2v8m1n0p3q5r7s"]));
}
