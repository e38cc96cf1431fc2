/**
 * The web pages beside the API: `/` and every path that is asked for as HTML, but for those of the API, are addresses
 * of the one page; what it loads is found by its whole path. None of it needs a token: it holds nothing but code.
 */
import { answerFile, type ConsoleFile, type ConsoleFiles } from "@posthaste/console/files";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

const API = /^\/v1(?:\/|$)/;

/** True for a path that a browser was sent to, by a link or by its address. */
export function asksForPage({ method, url, headers }: FastifyRequest): boolean {
  const [path = ""] = url.split("?");
  return (method === "GET" || method === "HEAD") && !API.test(path) && /\btext\/html\b/.test(headers.accept ?? "");
}

/** Serves what the page loads. */
export function serveConsole(server: FastifyInstance, { assets }: ConsoleFiles): void {
  for (const [path, file] of assets) {
    server.route({ method: ["GET", "HEAD"], url: path, handler: (request, reply) => serve(file, request, reply) });
  }
}

export function serveIndex({ index }: ConsoleFiles, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return serve(index, request, reply);
}

function serve(file: ConsoleFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = answerFile(file, request.headers);
  reply.code(status).headers(headers);
  if (request.method !== "HEAD") return reply.send(body ?? undefined);
  return reply.header("content-length", body?.length ?? 0).send();
}
