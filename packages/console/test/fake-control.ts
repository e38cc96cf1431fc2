/**
 * A control that answers every operation with the example of the OpenAPI document; how it is reached is another matter.
 *
 * - A test may put another answer in the place of an example; a path of the API that the document does not have is
 *   answered 404.
 * FC2  The live stream begins with a beat, and holds a test's rows; it beats no more by itself. A stream that goes on
 *      from an id has the rows since, as control has it.
 * - Every request is kept, so that a test can look at a page's requests.
 */
import { readFile } from "node:fs/promises";
import type { ApiDocument } from "../build/api-types.ts";

const { paths }: ApiDocument = JSON.parse(await readFile(new URL("../openapi.json", import.meta.url), "utf8"));
/** Of paths that fit, the one that names most itself comes first. */
const PATTERNS = Object.keys(paths)
  .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`) }))
  .sort((a, b) => a.path.split("{").length - b.path.split("{").length);

/** The answer to an operation; `pending` waits for the answers that are put next. */
export type FakeAnswer =
  | {
      readonly status?: number;
      readonly body?: unknown;
      /** In place of a body: server-sent events, after which the answer ends. */
      readonly events?: readonly (readonly [event: string, data: unknown])[];
    }
  | "pending";

/** By operation, such as `GET /v1/sources`, or by that with a query behind it. */
export type FakeAnswers = Readonly<Record<string, FakeAnswer | ((request: FakeRequest) => FakeAnswer)>>;

export interface FakeRequest {
  readonly operation: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** An answer on its way; `stream` is a live one, to be listened to. */
type FakeReply =
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string | null }
  | "stream";

/** The other end of a stream. */
export interface FakeListener {
  readonly say: (event: string, id: number, data: unknown) => void;
  readonly end: () => void;
}

export interface FakeControl {
  /** Asks for a path of the API; `body` is empty where there is none. */
  readonly ask: (asked: { readonly method: string; readonly url: URL; readonly body: string }) => Promise<FakeReply>;
  /** FC2. Returns a function that closes it. */
  readonly listen: (asked: URLSearchParams, listener: FakeListener) => () => void;
  /** Puts these answers in the place of all that were put before. */
  readonly answer: (answers: FakeAnswers) => void;
  readonly requests: readonly FakeRequest[];
  /** The open streams, by their parameters. */
  readonly streams: () => readonly URLSearchParams[];
  /** Says an event in each open stream; `lastId` is its id. */
  readonly tell: (event: string, data: unknown) => void;
  readonly lastId: () => string;
  /** Ends every stream; no other begins until other answers are put. */
  readonly cut: () => void;
}

/** The document's example of the answer of an operation. */
export function exampleOf(operation: string): { readonly status: number; readonly body: unknown } {
  const [method = "", path = ""] = operation.split(" ");
  const described = paths[path]?.[method.toLowerCase()];
  if (described === undefined) throw new Error(`the document has no ${operation}`);
  const [status = "200", answer] = Object.entries(described.responses).find(([each]) => each.startsWith("2")) ?? [];
  return { status: Number(status), body: answer?.content?.["application/json"]?.example };
}

/** As control tells a refusal. */
export function problem(status: number, detail: string, title = "A problem"): FakeAnswer {
  const body = {
    type: "urn:posthaste:problem:fake",
    title,
    status,
    detail,
    errors: [],
    requestId: "req_fake0123456789",
  };
  return { status, body };
}

export function createFakeControl(): FakeControl {
  let answers: FakeAnswers = {};
  const requests: FakeRequest[] = [];
  const live = createFakeStreams();
  let pending: (() => void)[] = [];
  /** As it is answered now, or as it will be when other answers are put. */
  const reply = async (asked: FakeRequest): Promise<FakeReply> => {
    const { operation } = asked;
    const put = answers[operation];
    const answer = typeof put === "function" ? put(asked) : put;
    if (answer === "pending") {
      await new Promise<void>((resolve) => pending.push(resolve));
      return reply(asked);
    }
    if (operation === "GET /v1/live" && answer === undefined) return "stream";
    if (answer?.events !== undefined) {
      const text = answer.events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("");
      return { status: 200, headers: { "content-type": "text/event-stream" }, text };
    }
    const fallback = operation === "" ? { status: 404, body: {} } : exampleOf(operation);
    const status = answer?.status ?? fallback.status;
    const type = status < 400 ? "application/json" : "application/problem+json";
    const headers = { "content-type": type, "x-request-id": "req_fake0123456789" };
    return { status, headers, text: status === 204 ? null : JSON.stringify(answer?.body ?? fallback.body) };
  };
  return {
    ask: ({ method, url, body }) => {
      const { pathname, searchParams } = url;
      const asked = { operation: operationOf(method, pathname) ?? "", path: pathname, query: searchParams };
      const request = { ...asked, body: body === "" ? null : JSON.parse(body) };
      requests.push(request);
      return reply(request);
    },
    listen: live.open,
    answer: (put) => {
      answers = put;
      live.mend();
      requests.length = 0;
      const waiting = pending;
      pending = [];
      for (const answerNow of waiting) answerNow();
    },
    requests,
    streams: live.streams,
    tell: live.tell,
    lastId: live.lastId,
    cut: live.cut,
  };
}

function operationOf(method: string, pathname: string): string | null {
  const found = PATTERNS.find(
    ({ path, pattern }) => pattern.test(pathname) && method.toLowerCase() in (paths[path] ?? {}),
  );
  return found === undefined ? null : `${method} ${found.path}`;
}

function createFakeStreams() {
  const open = new Map<FakeListener, URLSearchParams>();
  let isDown = false;
  let id = 0;
  const reported: { readonly id: number; readonly event: string; readonly data: unknown }[] = [];
  return {
    open: (asked: URLSearchParams, listener: FakeListener): (() => void) => {
      if (isDown) {
        listener.end();
        return () => {};
      }
      open.set(listener, asked);
      const from = Number(asked.get("lastEventId") ?? id);
      listener.say("beat", from, { asOf: null, complete: true });
      for (const each of reported) if (each.id > from) listener.say(each.event, each.id, each.data);
      return () => open.delete(listener);
    },
    streams: () => [...open.values()],
    tell: (event: string, data: unknown): void => {
      id += 1;
      reported.push({ id, event, data });
      for (const listener of open.keys()) listener.say(event, id, data);
    },
    lastId: () => String(id),
    cut: (): void => {
      isDown = true;
      const cutOff = [...open.keys()];
      open.clear();
      for (const listener of cutOff) listener.end();
    },
    mend: (): void => {
      isDown = false;
    },
  };
}
