/** The control API over fetch: the only thing that the command talks to. */
import type { Access } from "./access.ts";
import { type Entry, isEntry } from "./entries.ts";
import { CliError, EXIT, type ExitCode } from "./exit-code.ts";

/** As many as one page may have. */
const PAGE = 200;

export interface ApiClientOptions extends Access {
  readonly timeoutMs: number;
  /** The command's own, by which control knows that a change was asked for here. */
  readonly version: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface ReadList {
  readonly entries: readonly Entry[];
  /** False while control has not read everything: entries may be missing. */
  readonly complete: boolean;
}

export interface OpenOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** An answer as it comes. */
export interface Download {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The trailer of this name behind the answer's end; to be asked for then. */
  readonly trailer: (name: string) => string | undefined;
}

export interface Paging {
  /** As many as a page may have. */
  readonly page?: number;
  /** See `call`. */
  readonly extraMs?: number;
}

export interface ApiClient {
  /** Control's, without a slash at the end. */
  readonly url: string;
  /** Whether there is a token to ask with. */
  readonly hasToken: boolean;
  /**
   * The answer's document. Throws CliError with the code that the refusal stands for. `extraMs`: how much longer than
   * another call the answer may take.
   */
  call(method: string, path: string, body?: unknown, extraMs?: number): Promise<Entry>;
  /**
   * Puts lines as they are read, and waits for the answer for as long as it takes; `onSent` is told of lines. Throws as
   * `call` does.
   */
  upload(path: string, chunks: AsyncIterable<Uint8Array>, onSent: (lines: number) => void): Promise<Entry>;
  /**
   * The bytes of an answer as they come, however long that takes. Throws as `call` does, also when they break off in
   * the middle.
   */
  download(path: string): Promise<Download>;
  /**
   * The bytes of an answer that has no end. Throws as `call` does, also where they break off: that is code 5.
   */
  open(path: string, options: OpenOptions): Promise<AsyncIterable<Uint8Array>>;
  /** Entries of a list through all its pages, at most `limit`. */
  list(path: string, limit: number): Promise<readonly Entry[]>;
  /** The same for a list that control reads from a topic; `query` narrows it. */
  listRead(path: string, limit: number, query: Readonly<Record<string, string>>, paging?: Paging): Promise<ReadList>;
  /** An answer of whatever status, asked for without the token. Throws CliError when there is none. */
  probe(path: string): Promise<ApiAnswer>;
}

export function createApiClient({ url, token, elsewhere, timeoutMs, version }: ApiClientOptions): ApiClient {
  const authorization = () => ({
    ...authorizationOf({ url, token, elsewhere }),
    "user-agent": `posthaste-cli/${version}`,
  });
  const request = async (
    method: string,
    path: string,
    { headers = {}, body, extraMs = 0 }: { headers?: Record<string, string>; body?: unknown; extraMs?: number } = {},
  ) => {
    const patienceMs = timeoutMs + extraMs;
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        // The token is for this server and no other.
        redirect: "error",
        signal: AbortSignal.timeout(patienceMs),
      });
      const text = await response.text();
      return { status: response.status, body: parseJson(text) };
    } catch (cause) {
      throw notReachable(url, patienceMs, cause);
    }
  };

  const call: ApiClient["call"] = async (method, path, body, extraMs = 0) => {
    return documentOf(url, await request(method, path, { headers: authorization(), body, extraMs }));
  };

  const uploadLines: ApiClient["upload"] = async (path, chunks, onSent) => {
    const headers = { ...authorization(), "content-type": "application/x-ndjson" };
    // Node's HTTP takes longer to load than the whole command, and --help needs none of it.
    const { upload } = await import("./upload.ts");
    const { status, text } = await upload({ url: `${url}${path}`, headers, chunks, onSent }).catch((cause: unknown) => {
      throw notReachable(url, timeoutMs, cause);
    });
    return documentOf(url, { status, body: parseJson(text) });
  };

  const lost = (cause: unknown): never => {
    throw notReachable(url, timeoutMs, cause);
  };
  const open: ApiClient["open"] = async (path, { headers, signal }) => {
    const asked = { url: `${url}${path}`, headers: { ...authorization(), ...headers }, timeoutMs, signal };
    const response = await beginEndless(asked).catch(lost);
    if (response.status >= 400) throw refusal({ status: response.status, body: parseJson(await response.text()) });
    return endless(response, lost);
  };

  const download: ApiClient["download"] = async (path) => {
    // As for uploads.
    const { beginDownload, textOf, wholeOf } = await import("./download.ts");
    const response = await beginDownload({ url: `${url}${path}`, headers: authorization(), timeoutMs }).catch(lost);
    const { statusCode: status = 0 } = response;
    if (status >= 400) throw refusal({ status, body: parseJson(await textOf(response).catch(lost)) });
    return { chunks: wholeOf(response), trailer: (name) => response.trailers[name] };
  };

  const listRead = listReader(call);
  return {
    url,
    hasToken: token !== null,
    call,
    upload: uploadLines,
    download,
    open,
    list: async (path, limit) => (await listRead(path, limit, {})).entries,
    listRead,
    probe: (path) => request("GET", path),
  };
}

/** Through all pages. */
function listReader(call: ApiClient["call"]): ApiClient["listRead"] {
  return async (path, limit, filter, { page = PAGE, extraMs = 0 } = {}) => {
    const entries: Entry[] = [];
    let isComplete = true;
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ ...filter, limit: String(Math.min(page, limit - entries.length)) });
      if (cursor !== null) query.set("cursor", cursor);
      const { data, nextCursor, complete } = await call("GET", `${path}?${query}`, undefined, extraMs);
      if (Array.isArray(data)) entries.push(...data.filter(isEntry));
      if (complete === false) isComplete = false;
      cursor = typeof nextCursor === "string" ? nextCursor : null;
    } while (cursor !== null && entries.length < limit);
    return { entries, complete: isComplete };
  };
}

/** Throws CliError for a refusal. */
function documentOf(url: string, answer: ApiAnswer): Entry {
  if (answer.status >= 400) throw refusal(answer);
  if (answer.status === 204) return {};
  if (!isEntry(answer.body)) throw new CliError(EXIT.failed, `${url} does not answer as Posthaste's control API does`);
  return answer.body;
}

/** Throws CliError where there is no token. */
function authorizationOf({ url, token, elsewhere }: Access): { readonly authorization: string } {
  if (token !== null) return { authorization: `Bearer ${token}` };
  const local = elsewhere === null ? "" : `leave out --url for the control of npm start at ${elsewhere}; else `;
  throw new CliError(EXIT.notAllowed, `there is no token for ${url}`, {
    hint: `${local}set POSTHASTE_ADMIN_TOKEN, name a file that holds it with --token-file, or set POSTHASTE_DATA_DIR to the folder of npm start`,
  });
}

function notReachable(url: string, timeoutMs: number, cause: unknown): CliError {
  if (cause instanceof DOMException && cause.name === "TimeoutError") {
    return new CliError(EXIT.notReachable, `${url} did not answer within ${timeoutMs} ms`, {
      hint: "give it longer with --timeout 60s",
      cause,
    });
  }
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const reason = inner instanceof Error ? inner.message : String(inner);
  return new CliError(EXIT.notReachable, `${url} cannot be reached: ${reason || "no connection"}`, {
    hint:
      "is control running? npm start brings it up; " +
      "--url names another, POSTHASTE_DATA_DIR the folder of another npm start",
    cause,
  });
}

const CODE_OF_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.usage,
  401: EXIT.notAllowed,
  403: EXIT.notAllowed,
  404: EXIT.no,
  409: EXIT.no,
  413: EXIT.usage,
  429: EXIT.notReachable,
  503: EXIT.notReachable,
};

function refusal({ status, body }: ApiAnswer): CliError {
  const detail = isEntry(body) && typeof body.detail === "string" ? body.detail : `the API answers ${status}`;
  const exitCode = CODE_OF_STATUS[status] ?? EXIT.failed;
  if (status !== 401) return new CliError(exitCode, detail);
  return new CliError(exitCode, "control does not take this token", {
    hint: "control's own is POSTHASTE_ADMIN_TOKEN in its environment; npm start prints it",
  });
}

function parseJson(text: string): unknown {
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface EndlessOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Until the answer begins. */
  readonly timeoutMs: number;
  /** Ends it at any time. */
  readonly signal: AbortSignal;
}

/** Resolves when the answer begins; rejects as `fetch` does. */
async function beginEndless({ url, headers, timeoutMs, signal }: EndlessOptions): Promise<Response> {
  const begun = new AbortController();
  const timer = setTimeout(() => begun.abort(new DOMException("no answer", "TimeoutError")), timeoutMs);
  try {
    // The token is for this server and no other.
    return await fetch(url, { headers, redirect: "error", signal: AbortSignal.any([begun.signal, signal]) });
  } finally {
    clearTimeout(timer);
  }
}

/** Its bytes; `lost` throws where they break off. */
async function* endless({ body }: Response, lost: (cause: unknown) => never): AsyncGenerator<Uint8Array> {
  try {
    yield* body ?? [];
  } catch (cause) {
    lost(cause);
  }
}
