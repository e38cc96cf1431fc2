/**
 * Bodies that are read as they come: a route that names such a media type gets the stream, every other one refuses it.
 */
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Problem } from "./problem.ts";
import type { Route, RouteRequest } from "./route.ts";

/** Hands such bodies on unread. */
export function readUploads(server: FastifyInstance, routes: readonly Route[]): void {
  const mediaTypes = new Set(routes.flatMap(({ upload }) => upload?.mediaType ?? []));
  for (const mediaType of mediaTypes) server.addContentTypeParser(mediaType, async (_: unknown, body: unknown) => body);
}

/** The request's body as the route takes it. Throws the Problem `unsupported_media_type`. */
export function uploadOf(request: FastifyRequest, route: Route): Pick<RouteRequest, "body" | "chunks"> {
  const { body } = request;
  if (!(body instanceof Readable)) return { body, chunks: null };
  if (route.upload !== null) return { body: undefined, chunks: body };
  throw new Problem("unsupported_media_type", "send application/json");
}
