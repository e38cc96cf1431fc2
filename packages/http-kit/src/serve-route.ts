/**
 * Serves one route behind the token: control does not read the body of a caller that may not ask, and gives the others
 * as long as the route says.
 */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Caller } from "@posthaste/core/access/author";
import type { Log } from "@posthaste/core/log";
import { letPiecesBeSmall } from "@posthaste/runtime/wire-pieces";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Callers } from "./caller.ts";
import { assertMayAsk, assertMayDo, headOf, NOBODY } from "./caller.ts";
import type { LongRequests } from "./long-requests.ts";
import { Problem } from "./problem.ts";
import { type RequestMetrics, requestEnd } from "./request-metrics.ts";
import { AnswerWithHeaders, type Route, StreamedAnswer, type Trailers } from "./route.ts";
import { MAX_STRANGER_BODY_BYTES } from "./stranger-bodies.ts";
import { isUpload, letGo, routerPath, uploadOf } from "./uploads.ts";

/**
 * How long, in ms, a request's head may take, and then its body: a caller that sends a few bytes at a time must not
 * hold a connection for ever.
 */
export const REQUEST_TIMEOUT_MS = 30_000;

/** The most bytes of a JSON body: many times a destination with five URLs of fifty headers each. */
const MAX_BODY_BYTES = 1024 * 1024;

export interface ServeRouteOptions {
  readonly callers: Callers;
  readonly isCaughtUp: () => boolean;
  readonly limits: { letLast(request: IncomingMessage): void };
  readonly longs: LongRequests;
  readonly log: Log;
  readonly metrics: RequestMetrics;
  /** How long, in ms, a body that is no upload may take. */
  readonly bodyTimeoutMs: number;
}

export function serveRoute(server: FastifyInstance, route: Route, options: ServeRouteOptions): void {
  const { callers, isCaughtUp, limits, longs, log, metrics, bodyTimeoutMs } = options;
  const { operation } = route;
  const need = callers.needs[operation];
  if (need === undefined) throw new Error(`the table of needs has no ${operation}`);
  const known = new WeakMap<FastifyRequest, Caller>();
  server.route({
    method: route.method,
    url: routerPath(route.path),
    // This runs before fastify reads the body: control does not read the body of a caller that may not ask.
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      const caller = need === "none" ? NOBODY : await callers.callerOf(headOf(request));
      if (!isCaughtUp()) throw new Problem("unavailable", "the configuration is still being read: try again soon");
      assertMayAsk(caller, need);
      known.set(request, caller);
      request.isOfKnownCaller = need !== "none";
      // A line of an upload may be a piece of its own, and is short.
      if (isUpload(request, route)) letPiecesBeSmall(request.raw);
      if (route.isLong !== false) {
        longs.begin(reply.raw, caller, { isCounted: route.isLong === true });
        limits.letLast(request.raw);
      }
      boundBody(request, route, bodyTimeoutMs);
    },
    bodyLimit: route.bodyLimit ?? (need === "none" ? MAX_STRANGER_BODY_BYTES : MAX_BODY_BYTES),
    onResponse: async (_, reply) => {
      metrics.requests.inc({ operation, answer: requestEnd(reply.statusCode) });
    },
    handler: async (request, reply) => {
      const params = request.params as Readonly<Record<string, string>>;
      const by = { caller: known.get(request) ?? NOBODY, operation, requestId: request.id };
      assertMayDo(by.caller, need, request.body);
      const asked = {
        params,
        query: request.query,
        signal: closedSignal(reply),
        head: headOf(request),
        by,
        ...uploadOf(request, route),
      };
      const answer = await route.run(asked).finally(() => letGo(request));
      // Write keys stand in answers.
      reply.code(route.answer.status).header("cache-control", "no-store");
      if (answer instanceof StreamedAnswer) return sendStream(reply, answer, { log, requestId: request.id });
      const reported = answer instanceof AnswerWithHeaders ? answer.body : answer;
      if (answer instanceof AnswerWithHeaders) reply.headers(answer.headers);
      return reported === undefined ? reply.send() : reply.send(reported);
    },
  });
}

/** Aborted when the connection ends or the answer has been sent. */
function closedSignal(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  reply.raw.once("close", () => closed.abort());
  return closed.signal;
}

interface SentStream {
  readonly log: Log;
  readonly requestId: string;
}

/**
 * Sends a streamed answer. A failure in the middle cuts the connection, so that nobody takes the part that came for the
 * whole.
 */
function sendStream(reply: FastifyReply, answer: StreamedAnswer, { log, requestId }: SentStream): FastifyReply {
  const { mediaType, fileName, trailers } = answer;
  const chunks = trailers === null ? answer.chunks : withTrailers(answer.chunks, reply, trailers);
  const stream = Readable.from(chunks, { objectMode: false });
  // The head is sent at once, however long the route takes to find the first bytes of the body.
  reply.raw.once("pipe", () => reply.raw.flushHeaders());
  stream.once("error", (error) => {
    if (!reply.raw.destroyed) log.error({ event: "stream_failed", requestId, fileName, err: error });
  });
  if (trailers !== null) reply.header("trailer", trailers.names.join(", "));
  reply.type(mediaType);
  if (fileName !== null) reply.header("content-disposition", `attachment; filename="${fileName}"`);
  return reply.send(stream);
}

/** Adds the trailers once all chunks were sent: an answer that breaks off has none. */
async function* withTrailers(chunks: AsyncIterable<Uint8Array>, reply: FastifyReply, { values }: Trailers) {
  yield* chunks;
  reply.raw.addTrailers(values());
}

/**
 * Cuts off a request whose body has not come within `timeoutMs`. A route that takes an upload bounds it itself, since
 * the route sees whether bytes still come.
 */
function boundBody(request: FastifyRequest, route: Route, timeoutMs: number): void {
  const { raw } = request;
  if (raw.complete || isUpload(request, route)) return;
  const timer = setTimeout(() => raw.destroy(), timeoutMs);
  timer.unref();
  const clear = () => clearTimeout(timer);
  raw.once("end", clear);
  raw.once("close", clear);
}
