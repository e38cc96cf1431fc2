/**
 * Bodies that are read as they come: a route that names such a media type gets the stream, every other one refuses it.
 */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "./problem.ts";
import type { Route, RouteRequest } from "./route.ts";

/** What is left of an upload that was answered before its end is read for so long, and then cut off. */
const LET_GO_MS = 30_000;

/** Hands such bodies on unread. */
export function readUploads(server: FastifyInstance, routes: readonly Route[]): void {
  const mediaTypes = new Set(routes.flatMap(({ upload }) => upload?.mediaType ?? []));
  for (const mediaType of mediaTypes) server.addContentTypeParser(mediaType, async (_: unknown, body: unknown) => body);
}

/** Whether the route gets this request's body as it comes, by the media type that the request names. */
export function isUpload({ headers }: FastifyRequest, { upload }: Route): boolean {
  const [mediaType = ""] = (headers["content-type"] ?? "").split(";");
  return upload !== null && mediaType.trim().toLowerCase() === upload.mediaType;
}

/**
 * What is told of a body that is refused before any route sees it: how much may come, and what may come in its place.
 * Null for any other error.
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

/** A route's path as the server's router has it. */
export function routerPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

/** The request's body as the route takes it. Throws the Problem `unsupported_media_type`. */
export function uploadOf(request: FastifyRequest, route: Route): Pick<RouteRequest, "body" | "chunks"> {
  const { body } = request;
  if (!(body instanceof Readable)) return { body, chunks: null };
  // Whoever stops reading does not end the stream: see `letGo`.
  if (route.upload !== null) return { body: undefined, chunks: body.iterator({ destroyOnReturn: false }) };
  throw new Problem("unsupported_media_type", "send application/json");
}

/**
 * Reads what is left of a body that nobody reads any more. Otherwise the connection stands still: its next request is
 * never seen, and an answer that is sent while the caller still writes may be lost with it.
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
