/** One route behind the token: who may not ask is not read, and whoever asks has as long as the route says. */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Log } from "@posthaste/core/log";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { assertMayAsk, assertMayDo, headOf, NOBODY } from "./admit.ts";
import type { Caller, Callers } from "./caller.ts";
import { type ControlMetrics, requestEnd } from "./metrics.ts";
import { Problem } from "./problem.ts";
import { AnswerWithHeaders, type Route, StreamedAnswer, type Trailers } from "./route.ts";
import { boundStream } from "./stream-bounds.ts";
import { isUpload, letGo, routerPath, uploadOf } from "./uploads.ts";

/** For a request's head, and then for its body: a caller that trickles holds no connection for ever. */
export const REQUEST_TIMEOUT_MS = 30_000;

export interface ServeRouteOptions {
  readonly callers: Callers;
  readonly isCaughtUp: () => boolean;
  readonly limits: { letLast(request: IncomingMessage): void };
  readonly log: Log;
  readonly metrics: ControlMetrics;
  /** How long a body may take that is no upload. */
  readonly bodyTimeoutMs: number;
}

export function serveRoute(server: FastifyInstance, route: Route, options: ServeRouteOptions): void {
  const { callers, isCaughtUp, limits, log, metrics, bodyTimeoutMs } = options;
  const { operation } = route;
  const need = callers.needs[operation];
  if (need === undefined) throw new Error(`the table of needs has no ${operation}`);
  const known = new WeakMap<FastifyRequest, Caller>();
  server.route({
    method: route.method,
    url: routerPath(route.path),
    // Before the body is read: who may not ask is not read.
    onRequest: async (request: FastifyRequest) => {
      const caller = need === "none" ? NOBODY : await callers.callerOf(headOf(request));
      if (!isCaughtUp()) throw new Problem("unavailable", "the configuration is still being read: try again soon");
      assertMayAsk(caller, need);
      known.set(request, caller);
      if (route.isLong) limits.letLast(request.raw);
      boundBody(request, route, bodyTimeoutMs);
    },
    ...(route.bodyLimit === null ? {} : { bodyLimit: route.bodyLimit }),
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
      const told = answer instanceof AnswerWithHeaders ? answer.body : answer;
      if (answer instanceof AnswerWithHeaders) reply.headers(answer.headers);
      return told === undefined ? reply.send() : reply.send(told);
    },
  });
}

/** Aborted when the connection ends, or the answer is sent. */
function closedSignal(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  reply.raw.once("close", () => closed.abort());
  return closed.signal;
}

interface SentStream {
  readonly log: Log;
  readonly requestId: string;
}

/** What fails in the middle cuts the connection, so that nobody takes what came for all of it. */
function sendStream(reply: FastifyReply, answer: StreamedAnswer, { log, requestId }: SentStream): FastifyReply {
  const { mediaType, fileName, bounds, trailers } = answer;
  const chunks = trailers === null ? answer.chunks : withTrailers(answer.chunks, reply, trailers);
  const stream = Readable.from(chunks, { objectMode: false });
  // The answer begins at once, however long the first of it takes to be found.
  reply.raw.once("pipe", () => reply.raw.flushHeaders());
  stream.once("error", (error) => {
    if (!reply.raw.destroyed) log.error({ event: "stream_failed", requestId, fileName, err: error });
  });
  if (bounds !== null) boundStream(reply.raw, bounds);
  if (trailers !== null) reply.header("trailer", trailers.names.join(", "));
  reply.type(mediaType);
  if (fileName !== null) reply.header("content-disposition", `attachment; filename="${fileName}"`);
  return reply.send(stream);
}

/** They go into the last chunk: an answer that breaks off has none. */
async function* withTrailers(chunks: AsyncIterable<Uint8Array>, reply: FastifyReply, { values }: Trailers) {
  yield* chunks;
  reply.raw.addTrailers(values());
}

/**
 * Cuts off a request whose body is not there in time. An upload is bounded by its route, which sees whether it goes on.
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
