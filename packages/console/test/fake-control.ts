/**
 * A control that answers every operation with the example of the OpenAPI document, and serves the built pages as the
 * real one does.
 *
 * FC1  A test may put another answer in the place of an example; a path of the API that the document does not have is
 *      answered 404.
 * FC2  The stream of what comes live begins with a beat, and holds what a test says; it beats no more by itself. One
 *      that goes on from an id has what was said since, as control has it.
 * FC3  Every request is kept, so that a test can look at what a page asked for and sent.
 */
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { ApiDocument } from "../build/api-types.ts";
import { answerFile, type ConsoleFiles } from "../served/console-files.ts";
import { PAGE_HEADERS } from "../served/content-policy.ts";

const { paths }: ApiDocument = JSON.parse(await readFile(new URL("../openapi.json", import.meta.url), "utf8"));
/** Of paths that fit, the one that names most itself comes first. */
const PATTERNS = Object.keys(paths)
  .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`) }))
  .sort((a, b) => a.path.split("{").length - b.path.split("{").length);

/** An address of a page that is no page of the console: with nothing on it, under the same headers. */
export const NOWHERE = "/nowhere.html";
/** Of which no icon is asked for. */
const NOTHING = '<!doctype html><link rel="icon" href="data:,">';

/** What an operation is answered with; `pending` waits for the answers that are put next. */
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

export interface FakeControl {
  readonly url: string;
  /** Puts these answers in the place of all that were put before. */
  readonly answer: (answers: FakeAnswers) => void;
  readonly requests: readonly FakeRequest[];
  /** The streams that are open, by what was asked for. */
  readonly streams: () => readonly URLSearchParams[];
  /** Says an event in each open stream; `lastId` is its id. */
  readonly tell: (event: string, data: unknown) => void;
  readonly lastId: () => string;
  /** Ends every stream; no other begins until other answers are put. */
  readonly cut: () => void;
  readonly close: () => void;
}

/** What the document shows as the answer of an operation. */
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

export async function startFakeControl(files: ConsoleFiles): Promise<FakeControl> {
  let answers: FakeAnswers = {};
  const requests: FakeRequest[] = [];
  const live = createFakeStreams();
  let pending: (() => void)[] = [];
  const server = createServer((request, response) => {
    void handle(request, response);
  });
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://fake");
    if (pathname === NOWHERE) {
      response.writeHead(200, { ...PAGE_HEADERS, "content-type": "text/html; charset=utf-8" }).end(NOTHING);
      return;
    }
    if (!pathname.startsWith("/v1/")) {
      const { status, headers, body } = answerFile(files.assets.get(pathname) ?? files.index, request.headers);
      response.writeHead(status, headers).end(body ?? undefined);
      return;
    }
    const operation = operationOf(request.method ?? "GET", pathname);
    const sent = await text(request);
    const body: unknown = sent === "" ? null : JSON.parse(sent);
    const asked = { operation: operation ?? "", path: pathname, query: searchParams, body };
    requests.push(asked);
    reply(asked, response);
  };
  const reply = (asked: FakeRequest, response: ServerResponse): void => {
    const { operation } = asked;
    const put = answers[operation];
    const answer = typeof put === "function" ? put(asked) : put;
    if (answer === "pending") {
      pending.push(() => reply(asked, response));
      return;
    }
    if (operation === "GET /v1/live" && answer === undefined) {
      live.open(asked.query, response);
      return;
    }
    if (answer?.events !== undefined) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(answer.events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(""));
      return;
    }
    const fallback = operation === "" ? { status: 404, body: {} } : exampleOf(operation);
    const status = answer?.status ?? fallback.status;
    const type = status < 400 ? "application/json" : "application/problem+json";
    response.writeHead(status, { "content-type": type, "x-request-id": "req_fake0123456789" });
    response.end(status === 204 ? undefined : JSON.stringify(answer?.body ?? fallback.body));
  };
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function operationOf(method: string, pathname: string): string | null {
  const found = PATTERNS.find(
    ({ path, pattern }) => pattern.test(pathname) && method.toLowerCase() in (paths[path] ?? {}),
  );
  return found === undefined ? null : `${method} ${found.path}`;
}

function createFakeStreams() {
  const open = new Map<ServerResponse, URLSearchParams>();
  let isDown = false;
  let id = 0;
  const told: { readonly id: number; readonly event: string; readonly data: unknown }[] = [];
  const say = (response: ServerResponse, event: string, data: unknown, at = id): void => {
    response.write(`event: ${event}\nid: ${at}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  return {
    open: (asked: URLSearchParams, response: ServerResponse): void => {
      if (isDown) response.destroy();
      // The page has closed it since: nothing would end it here.
      if (response.destroyed) return;
      response.writeHead(200, { "content-type": "text/event-stream" });
      open.set(response, asked);
      response.once("close", () => open.delete(response));
      const from = Number(asked.get("lastEventId") ?? id);
      say(response, "beat", { asOf: null, complete: true }, from);
      for (const each of told) if (each.id > from) say(response, each.event, each.data, each.id);
    },
    streams: () => [...open.values()],
    tell: (event: string, data: unknown): void => {
      id += 1;
      told.push({ id, event, data });
      for (const response of open.keys()) say(response, event, data);
    },
    lastId: () => String(id),
    cut: (): void => {
      isDown = true;
      for (const response of open.keys()) response.destroy();
    },
    mend: (): void => {
      isDown = false;
    },
  };
}
