/**
 * A customer's endpoint for tests: a real HTTP(S) server on a free port of 127.0.0.1 that answers by a script and keeps
 * its requests.
 *
 * Owns: one server and its sockets.
 * RV1  A request is recorded when its body has ended and before it is answered, so a test that saw the answer sees the
 *      request.
 * RV2  `attempt` counts the requests of one path from 1. A path's script answers attempt n with its nth answer, later
 *      ones with its last; a path without a script gets the default answer.
 * RV3  `close` destroys every socket, also of hanging requests, and resolves when nothing is left open.
 */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";

export interface ReceivedRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** The request target as it came, query included. */
  readonly target: string;
  /** Names in lower case; repeated headers joined as Node joins them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Names and values as they came on the wire, in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** Which request of its path this is, from 1. */
  readonly attempt: number;
  /** `Date.now()` when the body had ended. */
  readonly receivedAtMs: number;
}

/** The receiver's treatment of one request. */
export interface Answer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Wait before the answer. */
  readonly delayMs?: number;
  /** Waited for before that. */
  readonly until?: Promise<void>;
  /** `hang`: never answer; `reset`: destroy the socket; `headers-only`: send the headers and never end the body. */
  readonly fault?: "hang" | "reset" | "headers-only";
}

/** Decides from the request; for answers that a list cannot express. */
export type AnswerFunction = (request: ReceivedRequest) => Answer;
export type Script = Answer | readonly [Answer, ...Answer[]] | AnswerFunction;

export interface ReceiverOptions {
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  /** The script of paths without one of their own; default 200. */
  readonly script?: Script;
  /** PEM texts: the server then speaks HTTPS. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Called with each request as it is recorded. */
  readonly onRequest?: (request: ReceivedRequest) => void;
}

export interface Receiver {
  /** Scheme, host and port, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** In the order they ended. */
  readonly requests: readonly ReceivedRequest[];
  readonly requestsTo: (path: string) => readonly ReceivedRequest[];
  /** Sets or replaces the answers of `path` from now on; its attempts go on counting. */
  readonly script: (path: string, script: Script) => void;
  /** Forgets recorded requests and attempts; scripts stay. */
  readonly clear: () => void;
  /** How many connections are open. */
  readonly connections: () => Promise<number>;
  readonly close: () => Promise<void>;
}

/** Starts a receiver; it answers 200 with an empty body until told otherwise. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { port: wantedPort = 0, script: defaultScript = {}, tls, onRequest } = options;
  const requests: ReceivedRequest[] = [];
  const scripts = new Map<string, Script>();
  const attempts = new Map<string, number>();

  const listener = (message: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("end", () => {
      const target = message.url ?? "/";
      const path = target.split("?")[0] ?? "/";
      const attempt = (attempts.get(path) ?? 0) + 1;
      attempts.set(path, attempt);
      const request: ReceivedRequest = {
        method: message.method ?? "",
        path,
        target,
        headers: Object.fromEntries(
          Object.entries(message.headers).map(([name, value]) => [
            name,
            Array.isArray(value) ? value.join(", ") : value,
          ]),
        ),
        rawHeaders: message.rawHeaders,
        body: Buffer.concat(chunks),
        attempt,
        receivedAtMs: Date.now(),
      };
      requests.push(request);
      onRequest?.(request);
      perform(answerOf(scripts.get(path) ?? defaultScript, request), response);
    });
  };
  const server = tls ? createHttpsServer({ ...tls }, listener) : createHttpServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(wantedPort, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}`,
    port,
    requests,
    requestsTo: (path) => requests.filter((request) => request.path === path),
    script: (path, script) => {
      scripts.set(path, script);
    },
    clear: () => {
      requests.length = 0;
      attempts.clear();
    },
    connections: () => promisify(server.getConnections.bind(server))(),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerOf(script: Script, request: ReceivedRequest): Answer {
  if (typeof script === "function") return script(request);
  if (!isList(script)) return script;
  return script[Math.min(request.attempt, script.length) - 1] ?? script[0];
}

// Array.isArray does not narrow a readonly tuple.
function isList(script: Answer | readonly [Answer, ...Answer[]]): script is readonly [Answer, ...Answer[]] {
  return Array.isArray(script);
}

function perform(answer: Answer, response: ServerResponse): void {
  const { status = 200, headers = {}, body = "", delayMs = 0, until, fault } = answer;
  if (fault === "hang") return;
  const act = (): void => {
    if (fault === "reset") {
      response.socket?.destroy();
      return;
    }
    response.writeHead(status, headers);
    if (fault === "headers-only") response.flushHeaders();
    else response.end(body);
  };
  const actInTime = () => (delayMs === 0 ? act() : void setTimeout(act, delayMs).unref());
  if (until === undefined) actInTime();
  else void until.then(actInTime);
}
