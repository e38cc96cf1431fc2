/** Requests that no route takes: those that use a path's wrong method, and bytes that are no HTTP. */
import type { Socket } from "node:net";
import { HEADER_LINES_WORDS, TOO_MANY_HEADER_LINES } from "@posthaste/runtime/header-lines";
import { BODY_CUT_TOO_SMALL, CUT_TOO_SMALL_WORDS } from "@posthaste/runtime/wire-pieces";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { createId } from "./identifiers.ts";
import { endWithAnswer } from "./last-answer.ts";
import { PROBLEM_TYPE, Problem, REQUEST_ID } from "./problem.ts";
import type { Route } from "./route.ts";
import { TOO_MANY_STRANGERS } from "./stranger-bodies.ts";

/** The paths that the server answers beside its routes, without a token. */
const OPEN_PATHS = ["/openapi.json", "/healthz", "/readyz"];

/**
 * Answers 405 with `Allow` where a path exists but not with the request's method. `authorize` rejects for a caller who
 * may not learn which paths exist.
 */
export function refuseOtherMethods(
  server: FastifyInstance,
  routes: readonly Pick<Route, "path" | "method">[],
  authorize: (request: FastifyRequest) => Promise<void>,
): void {
  const taken = new Map<string, string[]>(OPEN_PATHS.map((path) => [path, ["GET"]]));
  for (const { path, method } of routes) taken.set(path, [...(taken.get(path) ?? []), method]);
  for (const [path, methods] of taken) {
    const allow = methods.join(", ");
    server.route({
      method: server.supportedMethods.filter((method) => !methods.includes(method)),
      url: path.replace(/\{(\w+)\}/g, ":$1"),
      // Before the body is read.
      onRequest: async (request) => {
        if (!OPEN_PATHS.includes(path)) await authorize(request);
        throw new Problem("method_not_allowed", `there is no ${request.method} here, but ${allow}`, [], { allow });
      },
      handler: () => undefined,
    });
  }
}

/**
 * Answers a connection and ends it. Its bytes are no request, its head is too long, or its request comes too slowly.
 */
export function refuseBytes(error: Error & { readonly code?: string }, socket: Socket): void {
  endWithAnswer(error, socket, () => {
    const requestId = createId("req");
    const { status, detail } = REFUSED_BYTES[error.code ?? ""] ?? { status: 400, detail: "this is no HTTP request" };
    const problem = { ...new Problem("invalid_input", detail).toAnswer(requestId), status };
    const body = JSON.stringify(problem);
    const head = [
      `HTTP/1.1 ${status} ${status === 400 ? "Bad Request" : "Refused"}`,
      `content-type: ${PROBLEM_TYPE}`,
      `${REQUEST_ID}: ${requestId}`,
      `content-length: ${Buffer.byteLength(body)}`,
      "connection: close",
    ];
    return `${head.join("\r\n")}\r\n\r\n${body}`;
  });
}

/** Keyed by Node's error codes. */
const REFUSED_BYTES: Readonly<Record<string, { readonly status: number; readonly detail: string }>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "the request did not come in time" },
  [BODY_CUT_TOO_SMALL]: { status: 400, detail: CUT_TOO_SMALL_WORDS },
  [TOO_MANY_STRANGERS]: {
    status: 429,
    detail: "too many bodies of callers without a token are being read, and this was the oldest: send it whole, again",
  },
  [TOO_MANY_HEADER_LINES]: { status: 431, detail: HEADER_LINES_WORDS },
  HPE_HEADER_OVERFLOW: { status: 431, detail: "the head of the request is too large" },
};
