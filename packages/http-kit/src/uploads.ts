/**
 * Bodies that a route reads as a stream. A route that names such a media type as its upload gets the stream; every
 * other route refuses the media type.
 */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "./problem.ts";
import type { Route, RouteRequest } from "./route.ts";

/**
 * How long, in ms, the server goes on reading an upload that it answered before the upload's end; then it cuts the
 * connection.
 */
const LET_GO_MS = 30_000;

/** Makes fastify hand on unread the bodies of every media type that a route names as its upload. */
export function readUploads(server: FastifyInstance, routes: readonly Route[]): void {
  const mediaTypes = new Set(routes.flatMap(({ upload }) => upload?.mediaType ?? []));
  for (const mediaType of mediaTypes) server.addContentTypeParser(mediaType, async (_: unknown, body: unknown) => body);
}

/** True where the route gets this request's body as a stream, judged by the media type that the request names. */
export function isUpload({ headers }: FastifyRequest, { upload }: Route): boolean {
  const [mediaType = ""] = (headers["content-type"] ?? "").split(";");
  return upload !== null && mediaType.trim().toLowerCase() === upload.mediaType;
}

/**
 * Makes the Problem for a body that fastify refuses before any route sees it. The Problem names the route's limit and
 * the media type to send instead. Null for any other error.
 */
export function createBodyWords(routes: readonly Route[]): (error: unknown, request: FastifyRequest) => Problem | null {
  const lines = new Map(
    routes.flatMap((route) => (route.upload === null ? [] : [[keyOf(route), route.upload.mediaType]])),
  );
  return (error, { routeOptions: { method, url, bodyLimit } }) => {
    const code = error instanceof Error && "code" in error ? error.code : null;
    const mediaType = lines.get(`${method} ${url}`);
    if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
      const instead = mediaType === undefined ? "" : `: send it as lines (${mediaType}), of which any number may come`;
      return new Problem("too_large", `a body has at most ${bodyLimit} bytes here${instead}`);
    }
    if (code !== "FST_ERR_CTP_INVALID_MEDIA_TYPE") return null;
    const instead = mediaType === undefined ? "" : `, or lines as ${mediaType}`;
    return new Problem("unsupported_media_type", `send application/json${instead}`);
  };
}

function keyOf({ method, path }: Route): string {
  return `${method} ${routerPath(path)}`;
}

/** A route's path in the form of fastify's router. */
export function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

/** The request's body as the route takes it. Throws the Problem `unsupported_media_type`. */
export function uploadOf(request: FastifyRequest, route: Route): Pick<RouteRequest, "body" | "chunks"> {
  const { body } = request;
  if (!(body instanceof Readable)) return { body, chunks: null };
  // A route that stops reading leaves the stream open: `letGo` reads the rest.
  if (route.upload !== null) return { body: undefined, chunks: body.iterator({ destroyOnReturn: false }) };
  throw new Problem("unsupported_media_type", "send application/json");
}

/**
 * Reads and drops the rest of a body that no route reads any longer. Otherwise the connection would stand still: the
 * server would never see the next request on it, and a caller that still writes could lose the answer.
 */
export function letGo({ raw }: FastifyRequest): void {
  raw.resume();
  if (raw.complete) return;
  const timer = setTimeout(() => raw.destroy(), LET_GO_MS);
  timer.unref();
  const clear = () => clearTimeout(timer);
  raw.once("end", clear);
  raw.once("close", clear);
}
