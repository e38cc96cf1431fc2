/** The operator's port of every service: `/metrics`, `/healthz`, `/readyz`. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Registry } from "prom-client";
import { gaugeRender, renderMetrics } from "./metrics-page.ts";
import { inTurns } from "./request-turns.ts";
import { SharedAnswer } from "./shared-answer.ts";
import { DEFAULT_SOCKET_LIMITS, limitSockets, type SocketLimits } from "./socket-limits.ts";

/** Probes and scrapers send a head without a body, and read what they asked for at once. */
const ADMIN_SOCKET_LIMITS: SocketLimits = {
  ...DEFAULT_SOCKET_LIMITS,
  maxConnections: 200,
  maxOpenRequests: 2,
  idleMs: 10_000,
  exchangeMs: 30_000,
};
const HEAD_LIMITS = { maxHeaderSize: 8 * 1024, headersTimeout: 10_000, requestTimeout: 10_000 };

/** The header of `/readyz` with the release of the process. */
export const VERSION_HEADER = "posthaste-version";

/** The checks of a service by name: `true` when the check passes, or a few words that name the missing step. */
export type Readiness = Readonly<Record<string, true | string>>;

/** True when every check passes. */
export function isReady(readiness: Readiness): boolean {
  return Object.values(readiness).every((state) => state === true);
}

export interface AdminServerOptions {
  readonly host: string;
  /** The TCP port; with 0 the system chooses one. */
  readonly port: number;
  readonly registry: Registry;
  /** Returns the checks; called at each `/readyz`. */
  readonly readiness: () => Readiness | Promise<Readiness>;
  /** The release, which `/readyz` has in a header. */
  readonly version?: string;
  /** The checks of this process alone, for `/readyz?own`; `readiness` when absent. */
  readonly ownReadiness?: () => Readiness | Promise<Readiness>;
}

export interface AdminServer {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

/**
 * Starts the server. `/healthz` is 200 while the process answers at all; `/readyz` is 200 or 503 with
 * `{"ready": boolean, "checks": {name: true | "what is missing"}}`. `/readyz?own` leaves the checks of other services
 * out.
 */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const onRendered = gaugeRender(options.registry);
  const page = new SharedAnswer({ make: () => renderMetrics({ registry: options.registry, onRendered }) });
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    answer({ ...options, page }, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
      response.end(`${String(error)}\n`);
    });
  };
  const server = createServer(HEAD_LIMITS, inTurns(serve));
  limitSockets(server, ADMIN_SOCKET_LIMITS);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${options.host}:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type AnswerOptions = Pick<AdminServerOptions, "registry" | "readiness" | "ownReadiness" | "version"> & {
  readonly page: SharedAnswer<Buffer>;
};

async function answer(options: AnswerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path, query] = (request.url ?? "/").split("?");
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" }).end();
    return;
  }
  switch (path) {
    case "/metrics": {
      const page = await options.page.ask();
      response.writeHead(200, { "content-type": options.registry.contentType }).end(page);
      return;
    }
    case "/healthz":
      response.writeHead(200, { "content-type": "text/plain" }).end("ok\n");
      return;
    case "/readyz": {
      const checks = await (query === "own" ? (options.ownReadiness ?? options.readiness) : options.readiness)();
      const ready = isReady(checks);
      const release = options.version === undefined ? {} : { [VERSION_HEADER]: options.version };
      response
        .writeHead(ready ? 200 : 503, { "content-type": "application/json", ...release })
        .end(`${JSON.stringify({ ready, checks })}\n`);
      return;
    }
    default:
      response.writeHead(404, { "content-type": "text/plain" }).end("try /metrics, /healthz or /readyz\n");
  }
}
