/**
 * A call that a service of the product makes to ingest with a source's key, as the source itself would make it.
 *
 * The write key goes to the address that the operator set and nowhere else: the call follows no redirect. It reads as
 * much of the answer as ingest's own answers have, and hands on the code and message.
 */
import { readStart } from "./answer-start.ts";

export interface IngestCall {
  /** Ingest's address; the call goes below its path, and leaves a query out. */
  readonly ingestUrl: string;
  readonly writeKey: string;
  /** The kind of call, such as `track`. */
  readonly type: string;
  /** The call without its type, as JSON. */
  readonly call: object;
  /** The caller's name, for the header `User-Agent`. */
  readonly agent: string;
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined;
}

export interface IngestOutcome {
  readonly taken: boolean;
  /** Null where no answer came. */
  readonly status: number | null;
  /** Ingest's code, where ingest refused the call. */
  readonly code: string | null;
  /** Ingest's message, or why no answer came; null for a call that ingest accepted. */
  readonly message: string | null;
}

/** How long the call waits for an answer, in ms: longer than ingest waits for the brokers. */
const TIMEOUT_MS = 8_000;
/** The most characters read of an answer; ingest's own have some hundred. */
const MAX_ANSWER = 4_096;

/** Never rejects. */
export async function callIngest({
  ingestUrl,
  writeKey,
  type,
  call,
  agent,
  signal,
}: IngestCall): Promise<IngestOutcome> {
  const url = callUrl(ingestUrl, type);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`${writeKey}:`).toString("base64")}`,
        "content-type": "application/json",
        "user-agent": agent,
      },
      body: JSON.stringify(call),
      redirect: "manual",
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const { code, message } = parse(await readStart(response, MAX_ANSWER));
    const { status } = response;
    if (status === 200) return { taken: true, status, code: null, message: null };
    const isRedirect = status >= 300 && status < 400;
    const said = isRedirect
      ? `${url.origin} answers with a redirect: is POSTHASTE_INGEST_URL that of ingest?`
      : message;
    return { taken: false, status, code, message: said ?? `${url.origin} answers ${status}: is that ingest?` };
  } catch (error) {
    return { taken: false, status: null, code: null, message: reasonOf(error, url.origin) };
  }
}

function callUrl(ingestUrl: string, type: string): URL {
  const url = new URL(ingestUrl);
  // The path is set and not resolved: a path that begins with two slashes would name another host.
  url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/${type}`;
  url.search = "";
  url.hash = "";
  return url;
}

/** The code and message of ingest's answer; nulls for an answer that is not ingest's. */
function parse(text: string): { readonly code: string | null; readonly message: string | null } {
  try {
    const { code, message } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return { code: typeof code === "string" ? code : null, message: typeof message === "string" ? message : null };
  } catch {
    return { code: null, message: null };
  }
}

function reasonOf(error: unknown, origin: string): string {
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return `${origin} did not answer within ${TIMEOUT_MS / 1000} s: is ingest running there?`;
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return `${origin} cannot be reached: ${cause instanceof Error ? cause.message : String(cause)} (POSTHASTE_INGEST_URL)`;
}
