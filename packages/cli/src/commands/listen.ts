/** `posthaste listen`: a receiver on this machine whose requests are shown as they come, and passed on. */
import type { Command } from "commander";
import { cellText } from "../cell.ts";
import type { Context, Perform } from "../context.ts";
import type { Entry } from "../entries.ts";
import { examples } from "../examples.ts";
import { CliError, EXIT, type ExitCode } from "../exit-code.ts";
import { given, httpUrl, millisecondsOf, wholeNumber } from "../options.ts";
import { readSecret } from "./destinations.ts";
import { FITTED_ROWS } from "./follow.ts";
import { GIVE_UP_MS, keepAsking } from "./keep-asking.ts";

/** As long as a delivery waits. */
const TIMEOUT_MS = 5_000;

/** Those that are of one connection; fetch makes its own. */
const OWN_HEADERS = ["host", "connection", "content-length", "transfer-encoding", "date", "expect"];

/** Control's text in the place of an operator's own header. */
const MASK = "***";

const PATH = "/v1/test-receivers";

const COLUMNS = ["time", "method", "bytes", "messageId", "signature", "forwarded"];

const LOOK_MS = 250;

interface ListenOptions {
  readonly forwardTo?: string;
  readonly sharedSecretFile?: string;
  readonly destinationId?: string;
  readonly status?: number;
  readonly delay?: number;
  readonly count?: number;
  readonly giveUp: number;
}

export function addListen(program: Command, perform: Perform): void {
  program
    .command("listen")
    .description("make a receiver on this machine, show each request that comes, and forward it")
    .option("--forward-to <url>", "pass each request on to this URL, byte for byte", httpUrl)
    .option("--shared-secret-file <path>", "check X-Signature by the secret in this file; - reads standard input")
    .option("--destination-id <id>", "check X-Signature by this destination's secret")
    .option("--status <n>", "what deliveries are answered with (default: 200)", wholeNumber)
    .option("--delay <duration>", "how long an answer takes, up to 10s", millisecondsOf)
    .option("--count <n>", "end after so many requests (default: with Ctrl-C)", wholeNumber)
    .option("--give-up <duration>", "end when control does not answer for so long", millisecondsOf, GIVE_UP_MS)
    .action((options: ListenOptions, command: Command) => perform(command, (context) => listen(context, options)))
    .addHelpText(
      "after",
      examples([
        "posthaste listen --count 1",
        "posthaste listen --forward-to http://127.0.0.1:1/hook --shared-secret-file secret.txt --count 1",
      ]),
    );
}

async function listen(context: Context, options: ListenOptions): Promise<ExitCode> {
  const { api, printer, terminal } = context;
  const { sharedSecretFile, destinationId, status, delay: delayMs } = options;
  const secret =
    sharedSecretFile === undefined ? null : await readSecret(terminal, sharedSecretFile, "--shared-secret-file");
  const input = given({ destinationId, status, delayMs });
  const { id, url } = await api.call("POST", PATH, input);
  if (printer.isJson) printer.list([{ id, url }], []);
  else printer.lines([cellText(url)]);
  printer.say("ready: name it as a destination's URL; each request is shown as it comes, until Ctrl-C");

  const print = printer.listOn(COLUMNS, undefined, FITTED_ROWS);
  let last = 0;
  let shown = 0;
  return keepAsking(context, {
    everyMs: LOOK_MS,
    giveUpMs: options.giveUp,
    ask: async () => {
      const { requests, received } = await receiverAsks(context, { ...input, id }, last);
      // Control forgot it at its end: the one that was made under the same id counts anew.
      if (Number(received) < last) last = 0;
      for (const request of Array.isArray(requests) ? requests : []) {
        if (shown === options.count) break;
        print([await take(request, secret, options.forwardTo)]);
        last = Number(request.seq);
        shown++;
      }
      return shown === options.count;
    },
  });
}

/** The requests since `after`; makes the receiver again, under its old id, where control has forgotten it. */
async function receiverAsks({ api, printer }: Context, input: Entry, after: number): Promise<Entry> {
  try {
    return await api.call("GET", `${PATH}/${encodeURIComponent(String(input.id))}?after=${after}`);
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.no) throw error;
    const made = await api.call("POST", PATH, input);
    printer.say(`control has forgotten the receiver: it is made again at ${cellText(made.url)}`);
    return { ...made, requests: [] };
  }
}

/** A request as it is shown, passed on where that is asked for. */
async function take(request: Entry, secret: string | null, forwardTo: string | undefined): Promise<Entry> {
  const body = Buffer.from(String(request.bodyBase64), "base64");
  const isWhole = body.length === Number(request.bytes);
  const headers = (request.headers ?? {}) as Readonly<Record<string, unknown>>;
  const signature =
    secret === null ? request.signature : await checkSignature(headers["x-signature"], body, { secret, isWhole });
  return {
    ...request,
    messageId: headers["x-message-id"] ?? null,
    signature,
    forwarded:
      forwardTo === undefined ? null : isWhole ? await forward(forwardTo, request, body) : "too large to forward",
  };
}

async function checkSignature(
  given: unknown,
  body: Buffer,
  by: { readonly secret: string; readonly isWhole: boolean },
): Promise<string> {
  if (typeof given !== "string") return "missing";
  if (!by.isWhole) return "unchecked";
  // Takes long to load, and no other command needs it.
  const { createHmac, timingSafeEqual } = await import("node:crypto");
  const [is, expected] = [Buffer.from(given), Buffer.from(createHmac("sha1", by.secret).update(body).digest("hex"))];
  return is.length === expected.length && timingSafeEqual(is, expected) ? "valid" : "invalid";
}

/** The receiver's answer, or the reason why there was none. A redirect is told and not followed. */
async function forward(url: string, { method, headers }: Entry, body: Buffer): Promise<number | string> {
  try {
    const hasBody = method !== "GET" && method !== "HEAD";
    const response = await fetch(url, {
      method: String(method),
      headers: forwardedHeaders(headers),
      ...(hasBody ? { body: new Uint8Array(body) } : {}),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") return `no answer in ${TIMEOUT_MS} ms`;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return cause instanceof Error ? cause.message : String(cause);
  }
}

function forwardedHeaders(headers: unknown): Record<string, string> {
  if (typeof headers !== "object" || headers === null) return {};
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => !OWN_HEADERS.includes(name) && value !== MASK),
  );
}
