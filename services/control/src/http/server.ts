/**
 * The HTTP side of control: routes behind the admin token, problems as problem+json, `/openapi.json`, `/readyz`,
 * `/healthz`.
 */
import { Readable } from "node:stream";
import type { Log } from "@posthaste/core/log";
import { isReady, type Readiness } from "@posthaste/runtime/admin-server";
import { limitSockets } from "@posthaste/runtime/socket-limits";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { createTokenCheck } from "./bearer-token.ts";
import { type ControlMetrics, requestEnd, startRequestCounts } from "./metrics.ts";
import { openApiDocument } from "./openapi.ts";
import { Problem, problemFrom } from "./problem.ts";
import { type Route, StreamedAnswer } from "./route.ts";
import { letGo, readUploads, uploadOf } from "./uploads.ts";

/** Five URLs with fifty headers each fit many times over. */
const MAX_BODY_BYTES = 1024 * 1024;
/** For a request's head, and then for its body: a caller that trickles holds no connection for ever. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Of what stands in a path, such as a user id: Node takes no longer head than that. */
const MAX_PARAM_LENGTH = 16_384;
/** A refusal with 503 may be tried again after this. */
const RETRY_AFTER_SECONDS = 1;

export interface ServerOptions {
  readonly routes: readonly Route[];
  readonly adminToken: string;
  readonly version: string;
  readonly log: Log;
  readonly metrics: ControlMetrics;
  /** Asked at each `/readyz`: this process's own parts and every other service. */
  readonly readiness: () => Promise<Readiness>;
  /** Told beside the readiness and no part of it. */
  readonly information?: () => Readonly<Record<string, string>>;
  /** While false, `/v1` answers 503: what the tables do not hold yet would read as missing. */
  readonly isCaughtUp: () => boolean;
}

/** The server, not listening yet. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { routes, log, metrics, readiness, isCaughtUp } = options;
  startRequestCounts(metrics, routes);
  const isAllowed = createTokenCheck(options.adminToken);
  const server = fastify({
    bodyLimit: MAX_BODY_BYTES,
    // Node's own bound is for every request alike, and an upload may take its time: `boundBody` has one for each of the
    // others.
    requestTimeout: 0,
    http: { headersTimeout: REQUEST_TIMEOUT_MS },
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH },
    // What cannot be routed does not come to the error handler.
    frameworkErrors: (error, _, reply) => sendProblem(reply, problemFrom(error)),
  });

  const limits = limitSockets(server.server);

  server.setErrorHandler((error, request, reply) => {
    const problem = problemFrom(error);
    if (problem.status >= 500) {
      log.error({ event: "request_failed", method: request.method, route: request.routeOptions.url, err: error });
    }
    return sendProblem(reply, problem);
  });
  server.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?")[0];
    // Without the token nothing is told of what there is.
    if (!isAllowed(request.headers.authorization)) return sendProblem(reply, unauthorized());
    return sendProblem(reply, new Problem("not_found", `there is no ${request.method} ${path}: see /openapi.json`));
  });
  readJsonBodies(server);
  readUploads(server, routes);

  const document = JSON.stringify(openApiDocument(routes, options.version));
  server.get("/openapi.json", (_, reply) => reply.header("content-type", "application/json").send(document));
  server.get("/healthz", (_, reply) => reply.send("ok\n"));
  server.get("/readyz", async (_, reply) => {
    const checks = await readiness();
    const ready = isReady(checks);
    return reply.code(ready ? 200 : 503).send({ ready, checks, information: options.information?.() ?? {} });
  });

  for (const route of routes) {
    server.route({
      method: route.method,
      url: route.path.replace(/\{(\w+)\}/g, ":$1"),
      // Before the body is read: who may not ask is not read.
      onRequest: async (request: FastifyRequest) => {
        if (!isAllowed(request.headers.authorization)) throw unauthorized();
        if (!isCaughtUp()) throw new Problem("unavailable", "the configuration is still being read: try again soon");
        if (route.isLong) limits.letLast(request.raw);
        else boundBody(request);
      },
      ...(route.bodyLimit === null ? {} : { bodyLimit: route.bodyLimit }),
      onResponse: async (_, reply) => {
        metrics.requests.inc({ operation: route.operation, answer: requestEnd(reply.statusCode) });
      },
      handler: async (request, reply) => {
        const params = request.params as Readonly<Record<string, string>>;
        const asked = { params, query: request.query, signal: closedSignal(reply), ...uploadOf(request, route) };
        const answer = await route.run(asked).finally(() => letGo(request));
        // Write keys stand in answers.
        reply.code(route.answer.status).header("cache-control", "no-store");
        if (answer instanceof StreamedAnswer) return sendStream(reply, answer, log);
        return answer === undefined ? reply.send() : reply.send(answer);
      },
    });
  }
  return server;
}

function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.kind === "unauthorized") reply.header("www-authenticate", "Bearer");
  if (problem.kind === "unavailable") reply.header("retry-after", RETRY_AFTER_SECONDS);
  // Bytes, since fastify adds a charset to texts, and this media type has none.
  const body = Buffer.from(JSON.stringify(problem.toAnswer()));
  return reply.code(problem.status).header("content-type", "application/problem+json").send(body);
}

/** Aborted when the connection ends, or the answer is sent. */
function closedSignal(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  reply.raw.once("close", () => closed.abort());
  return closed.signal;
}

/** What fails in the middle cuts the connection, so that nobody takes what came for all of it. */
function sendStream(reply: FastifyReply, { mediaType, fileName, chunks }: StreamedAnswer, log: Log): FastifyReply {
  const stream = Readable.from(chunks, { objectMode: false });
  stream.once("error", (error) => {
    if (!reply.raw.destroyed) log.error({ event: "stream_failed", fileName, err: error });
  });
  return reply.type(mediaType).header("content-disposition", `attachment; filename="${fileName}"`).send(stream);
}

/** Cuts off a request whose body is not there in time. */
function boundBody({ raw }: FastifyRequest): void {
  if (raw.complete) return;
  const timer = setTimeout(() => raw.destroy(), REQUEST_TIMEOUT_MS);
  timer.unref();
  const clear = () => clearTimeout(timer);
  raw.once("end", clear);
  raw.once("close", clear);
}

function unauthorized(): Problem {
  return new Problem("unauthorized", "send the header Authorization: Bearer <admin token>");
}

/** JSON alone; an empty body counts as none, since clients name a type for those too. */
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

/** Throws a Problem, also for the keys with which an object could change its own prototype. */
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
