/**
 * The HTTP server: the limits of its sockets, its routes, and answers to requests that no route takes.
 *
 * HS1  A sender that is slow or endless with its headers or its body is cut off, and so is one that cuts its body into
 *      bytes (wire-pieces.ts).
 * HS2  Every request is answered with JSON that has a code, and never with a 5xx for a fault of its caller.
 * HS3  While it stops, the server takes no new connection, answers the requests that have begun, and cuts off those
 *      that are not answered in time.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Log } from "@posthaste/core/log";
import { limitSockets } from "@posthaste/runtime/socket-limits";
import { type FastifyInstance, type FastifyRequest, fastify } from "fastify";
import { type Answer, malformed, type Refusal, type SourcedAnswer } from "../answer/answer.ts";
import type { BodyReader } from "../body/read-body.ts";
import type { AnswerTurns } from "../fairness/answer-turns.ts";
import { MAX_HEADER_BYTES, READ_TIMEOUTS, type ReadTimeouts, SOCKET_LIMITS, STOP_TIMEOUT_MS } from "../limits.ts";
import { answerClientError } from "./client-error.ts";
import { preflightHeaders } from "./cors.ts";
import { sendAnswer, writeAnswer } from "./reply.ts";

const INTERNAL: Refusal = {
  accepted: false,
  status: 500,
  code: "internal",
  message: "The call was not taken, by a fault of this service; send it again.",
  answer: "internal",
};

declare module "fastify" {
  interface FastifyRequest {
    /** The response to the request; null before its first hook. */
    response: ServerResponse | null;
  }

  interface FastifyContextConfig {
    /** The route's handler reads the body itself. */
    readsItsBody?: boolean;
  }
}

export interface ServerOptions extends FaultPorts {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly bodies: Pick<BodyReader, "read" | "sweep">;
  /** The caller's address. */
  readonly addressOf: (request: FastifyRequest) => string | null;
  readonly timeouts?: ReadTimeouts | undefined;
  /** Takes a request that needs no framework; answers null for any other. */
  readonly answerDirectly: (request: IncomingMessage, response: ServerResponse) => Promise<SourcedAnswer> | null;
  /** The turns in which answers to calls are written. */
  readonly answerTurns: AnswerTurns;
  /** Called for each connection that is made. */
  readonly connected: () => void;
  /** Adds the routes. */
  readonly routes: (app: FastifyInstance) => void;
}

export interface IngestServer {
  readonly url: string;
  readonly port: number;
  /** Stops the server. Resolves when every request was answered or cut off (HS3). */
  close(): Promise<void>;
}

const BODY_TYPE = "application/json";

/** How long a connection may be idle between two requests, in ms. */
const KEEP_ALIVE_MS = 72_000;

export async function startServer(options: ServerOptions): Promise<IngestServer> {
  const { host, port, bodies, routes, timeouts = READ_TIMEOUTS } = options;
  const app = fastify({
    routerOptions: { ignoreTrailingSlash: true },
    forceCloseConnections: "idle",
    return503OnClosing: false,
    serverFactory: (handle) => createHttpServer(handle, options, timeouts),
    clientErrorHandler: (error, socket) => answerClientError(error, socket),
    frameworkErrors: (error, request, reply) => {
      sendAnswer(request, reply, malformed("malformed_request", `The request cannot be read: ${error.message}.`));
    },
  });
  limitSockets(app.server, SOCKET_LIMITS);
  app.server.on("connection", options.connected);

  readBodies(app, options);
  const sweeping = setInterval(bodies.sweep, timeouts.checkMs);
  app.setErrorHandler<Error>((error, request, reply) => sendAnswer(request, reply, refusalOfError(error, options)));
  app.setNotFoundHandler((request, reply) =>
    sendAnswer(request, reply, malformed("not_found", "There is nothing at this path; see /openapi.json.", 404)),
  );
  app.options("*", (request, reply) => reply.code(204).headers(preflightHeaders(request.headers)).send());
  const methodsOf = collectMethods(app);
  routes(app);
  refuseOtherMethods(app, methodsOf());

  const url = await app.listen({ host, port });
  const address = app.server.address();
  return {
    url,
    port: typeof address === "object" && address !== null ? address.port : port,
    close: async () => {
      clearInterval(sweeping);
      const cutOff = setTimeout(() => app.server.closeAllConnections(), STOP_TIMEOUT_MS);
      await app.close();
      clearTimeout(cutOff);
    },
  };
}

/** Creates the server beneath the framework. A request that needs no framework never gets to that. */
function createHttpServer(
  handle: RequestListener,
  { answerDirectly, answerTurns, log, countFault }: ServerOptions,
  timeouts: ReadTimeouts,
): Server {
  const settings = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.checkMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server = createServer(settings, (request, response) => {
    // Its connection was cut off (SL1 of socket-limits.ts).
    if (request.socket.destroyed) return;
    const answering = answerDirectly(request, response);
    if (answering === null) {
      handle(request, response);
      return;
    }
    const write = (answer: Answer) => writeAnswer(request, response, answer, !server.listening);
    const fail = (error: unknown) => {
      try {
        write(refusalOfError(error, { log, countFault }));
      } catch {
        // This request cannot be answered any more; the others are.
        response.destroy();
      }
    };
    const tell = (answer: Answer) => {
      try {
        write(answer);
      } catch (error) {
        fail(error);
      }
    };
    answering.then(({ answer, sourceId }) => answerTurns.write(sourceId, () => tell(answer)), fail);
  });
  return server;
}

/** Has every body read as JSON: real clients say text/plain, form-urlencoded, JSON or nothing, and all send JSON. */
function readBodies(app: FastifyInstance, { bodies, addressOf }: Pick<ServerOptions, "bodies" | "addressOf">): void {
  app.decorateRequest("response", null);
  app.addHook("onRequest", (request, reply, done) => {
    request.raw.headers["content-type"] = BODY_TYPE;
    request.response = reply.raw;
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(BODY_TYPE, (request, payload, done) => {
    if (request.routeOptions.config.readsItsBody === true) {
      done(null);
      return;
    }
    const held = bodies.read(payload, { source: null, address: addressOf(request) ?? "" });
    request.response?.once("close", () => held.release());
    held.content.then((body) => done(null, body), done);
  });
}

/** Returns a function that tells the methods of every path that is added from now on. */
function collectMethods(app: FastifyInstance): () => ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, string[]>();
  app.addHook("onRoute", ({ url, method }) => {
    methods.set(url, [...(methods.get(url) ?? []), ...[method].flat()]);
  });
  return () => new Map(methods);
}

/** Answers any other method on a path that exists with 405 and the methods that it allows. */
function refuseOtherMethods(app: FastifyInstance, methodsOf: ReadonlyMap<string, readonly string[]>): void {
  for (const [url, allowed] of methodsOf) {
    const message = `This path takes ${allowed.join(", ")}.`;
    app.route({
      method: app.supportedMethods.filter((method) => method !== "OPTIONS" && !allowed.includes(method)),
      url,
      handler: (request, reply) => {
        reply.header("allow", [...allowed, "OPTIONS"].join(", "));
        return sendAnswer(request, reply, malformed("method_not_allowed", message, 405));
      },
    });
  }
}

/** The parts of the server that hear of its own faults. */
interface FaultPorts {
  readonly log: Log;
  /** Counts a request that a fault of Posthaste's ended. */
  readonly countFault: (refusal: Refusal) => void;
}

/** Returns the refusal for an error. A fault of Posthaste's is logged and counted (HS2 of server.ts). */
function refusalOfError(error: unknown, { log, countFault }: FaultPorts): Refusal {
  const status = error instanceof Error ? statusOf(error) : 500;
  if (error instanceof Error && status < 500) {
    return malformed("malformed_request", `The request cannot be read: ${error.message}.`, status);
  }
  log.error({ event: "request_failed", err: error });
  countFault(INTERNAL);
  return INTERNAL;
}

function statusOf(error: Error): number {
  const status = "statusCode" in error ? error.statusCode : 500;
  return typeof status === "number" ? status : 500;
}
