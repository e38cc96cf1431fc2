/**
 * The web pages beside the API. `/`, and every path outside the API that a browser asks for as HTML, answer with the
 * one page of the console; the page loads its files by their whole paths. None of them needs a token: they hold code
 * and no data.
 */
import { answerFile, type ConsoleFile, type ConsoleFiles } from "@posthaste/console/files";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

const API = /^\/v1(?:\/|$)/;

/** True for a request with which a browser opens a page, by a link or by its address bar. */
export function asksForPage({ method, url, headers }: FastifyRequest): boolean {
  const [path = ""] = url.split("?");
  return (method === "GET" || method === "HEAD") && !API.test(path) && /\btext\/html\b/.test(headers.accept ?? "");
}

/** Serves the files that the page loads. */
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
