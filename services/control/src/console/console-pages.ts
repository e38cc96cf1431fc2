/**
 * The console's web pages beside the API. `/`, and every path outside the API that a browser asks for as HTML, return
 * the one page of the console; the page loads its files by their whole paths. None of them needs a token: they hold
 * code and no data.
 */
import { answerFile, type ConsoleFile, type ConsoleFiles } from "@posthaste/console/files";
import type { ServedPages } from "@posthaste/http-kit/server";
import type { FastifyReply, FastifyRequest } from "fastify";

const API = /^\/v1(?:\/|$)/;

/** The pages as a plugin of the server. */
export function consolePages({ index, assets }: ConsoleFiles): ServedPages {
  return {
    asksForPage,
    serve: (server) => {
      server.setNotFoundHandler((request, reply) => send(index, request, reply));
      for (const [path, file] of assets) {
        server.route({ method: ["GET", "HEAD"], url: path, handler: (request, reply) => send(file, request, reply) });
      }
    },
  };
}

/** True for a request with which a browser opens a page, by a link or by its address bar. */
function asksForPage({ method, url, headers }: FastifyRequest): boolean {
  const [path = ""] = url.split("?");
  return (method === "GET" || method === "HEAD") && !API.test(path) && /\btext\/html\b/.test(headers.accept ?? "");
}

function send(file: ConsoleFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = answerFile(file, request.headers);
  reply.code(status).headers(headers);
  if (request.method !== "HEAD") return reply.send(body ?? undefined);
  return reply.header("content-length", body?.length ?? 0).send();
}
