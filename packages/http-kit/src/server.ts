/** Control's HTTP server: routes behind a token, problems as problem+json, `/openapi.json`, `/readyz`, `/healthz`. */
import { createServer as createHttpServer } from "node:http";
import type { Log } from "@posthaste/core/log";
import { isReady, type Readiness } from "@posthaste/runtime/admin-server";
import { inTurns } from "@posthaste/runtime/request-turns";
import { limitSockets } from "@posthaste/runtime/socket-limits";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Callers } from "./caller.ts";
import { headOf } from "./caller.ts";
import { createId } from "./identifiers.ts";
import { LongRequests } from "./long-requests.ts";
import { type OperationExample, openApiDocument } from "./openapi.ts";
import { refuseBytes, refuseOtherMethods } from "./other-requests.ts";
import { PROBLEM_TYPE, Problem, problemFrom, REQUEST_ID } from "./problem.ts";
import { type RequestMetrics, startRequestCounts } from "./request-metrics.ts";
import type { Route } from "./route.ts";
import { REQUEST_TIMEOUT_MS, serveRoute } from "./serve-route.ts";
import { boundStrangers, MAX_STRANGER_BODY_BYTES } from "./stranger-bodies.ts";
import { createBodyWords, letGo, readUploads } from "./uploads.ts";

/** How soon a caller of `/readyz` that is not ready may ask again, in seconds. */
const READY_AGAIN_SECONDS = 1;

/** How long a connection may be idle between two requests, in ms. */
const KEEP_ALIVE_MS = 72_000;

/** The most characters of a path parameter, such as a user id: Node takes no longer request head than that. */
const MAX_PARAM_LENGTH = 16_384;

const SERVER_OPTIONS = {
  headersTimeout: REQUEST_TIMEOUT_MS,
  // Node's own timeout would hold for uploads too, which may take their time: `boundBody` bounds every other request.
  requestTimeout: 0,
  keepAliveTimeout: KEEP_ALIVE_MS,
};

/** Web pages that are served beside the routes. */
export interface ServedPages {
  /** True for a request outside the routes that the pages answer. */
  asksForPage(request: FastifyRequest): boolean;
  /** Adds the pages to the server. */
  serve(server: FastifyInstance): void;
}

export interface ServerOptions {
  readonly routes: readonly Route[];
  readonly callers: Callers;
  readonly version: string;
  /** The examples in `/openapi.json`, keyed by operation. */
  readonly examples: Readonly<Record<string, OperationExample>>;
  readonly log: Log;
  readonly metrics: RequestMetrics;
  /** The web pages; null where there are none. */
  readonly pages?: ServedPages | null;
  /** Adds the paths that are served beside the routes and need no token. */
  readonly addPaths?: (server: FastifyInstance) => void;
  /** Asked for at each `/readyz`: the readiness of this process's parts and of every other service. */
  readonly readiness: () => Promise<Readiness>;
  /** Further fields of the answer of `/readyz`, without any effect on the readiness. */
  readonly information?: () => Readonly<Record<string, string>>;
  /** While false, `/v1` answers 503: a thing that control has not read yet would seem not to exist. */
  readonly isCaughtUp: () => boolean;
  /** How long, in ms, a body that is no upload may take. */
  readonly bodyTimeoutMs?: number;
}

/** Creates the server, which does not listen yet. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { routes, callers, log, metrics, pages = null } = options;
  startRequestCounts(metrics, routes);
  const authorize = async (request: FastifyRequest): Promise<void> => {
    await callers.callerOf(headOf(request));
  };
  const server = fastify({
    bodyLimit: MAX_STRANGER_BODY_BYTES,
    serverFactory: (handler) => createHttpServer(SERVER_OPTIONS, inTurns(handler)),
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH },
    genReqId: () => createId("req"),
    // Fastify does not give the error handler the requests that it cannot route.
    frameworkErrors: (error, request, reply) => sendProblem(reply, problemFrom(error), request.id),
    clientErrorHandler: refuseBytes,
  });

  const limits = limitSockets(server.server);

  server.addHook("onRequest", async (request, reply) => {
    reply.header(REQUEST_ID, request.id);
    // Before the body is read. A caller without a token does not learn which paths exist.
    if (!request.is404 || pages?.asksForPage(request)) return;
    await authorize(request);
    const path = request.url.split("?")[0];
    throw new Problem("not_found", `there is no ${request.method} ${path}: see /openapi.json`);
  });
  boundStrangers(server);
  const bodyWords = createBodyWords(routes);
  server.setErrorHandler((error, request, reply) => {
    const refusedBody = bodyWords(error, request);
    if (refusedBody !== null) {
      // If the server closed the connection while the caller still writes, the caller would lose the answer.
      reply.removeHeader("connection");
      letGo(request);
    }
    const problem = refusedBody ?? problemFrom(error);
    const requestId = request.id;
    if (problem.kind === "internal") metrics.failures.inc();
    if (problem.status >= 500) {
      const { url: route } = request.routeOptions;
      log.error({ event: "request_failed", requestId, method: request.method, route, err: error });
    }
    return sendProblem(reply, problem, requestId);
  });
  readJsonBodies(server);
  readUploads(server, routes);

  serveOpenPaths(server, options);
  options.addPaths?.(server);
  pages?.serve(server);
  const { bodyTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const longs = new LongRequests(callers);
  for (const route of routes) serveRoute(server, route, { ...options, limits, longs, bodyTimeoutMs });
  refuseOtherMethods(server, routes, authorize);
  return server;
}

/** Serves the paths that need no token. */
function serveOpenPaths(server: FastifyInstance, options: ServerOptions): void {
  const { routes, callers, version, examples, readiness, information } = options;
  let document: Buffer | undefined;
  server.get("/openapi.json", (_, reply) => {
    // Made for the first who asks: it takes longer than all else of a server that starts.
    document ??= Buffer.from(JSON.stringify(openApiDocument(routes, { version, needs: callers.needs, examples })));
    return reply.header("content-type", "application/json").send(document);
  });
  server.get("/healthz", (_, reply) => reply.send("ok\n"));
  server.get("/readyz", async (_, reply) => {
    const checks = await readiness();
    const ready = isReady(checks);
    if (!ready) reply.header("retry-after", READY_AGAIN_SECONDS);
    return reply.code(ready ? 200 : 503).send({ ready, checks, information: information?.() ?? {} });
  });
}

function sendProblem(reply: FastifyReply, problem: Problem, requestId: string): FastifyReply {
  // The body is sent as bytes: fastify adds a charset to a text, and this media type has none.
  const body = Buffer.from(JSON.stringify(problem.toAnswer(requestId)));
  reply.headers({ ...problem.headers, [REQUEST_ID]: requestId, "content-type": PROBLEM_TYPE });
  return reply.code(problem.status).send(body);
}

/**
 * Makes the server take JSON and no other media type. An empty body counts as no body, since clients name a type for
 * those too.
 */
function readJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "string" }, (_, body, done) => {
    if (body.length === 0) return done(null, undefined);
    try {
      done(null, parseJson(body.toString()));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

/** Throws a Problem, also for the key `__proto__`, with which an object could change its own prototype. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) => {
      if (key === "__proto__") throw new Problem("invalid_input", 'the key "__proto__" is not allowed');
      return value;
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    // The parser's own words quote the body, which may hold a secret.
    throw new Problem("invalid_input", "the body is not JSON");
  }
}
