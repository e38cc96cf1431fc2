/** Image addresses that carry a call. */
import type { CallType } from "@posthaste/core/call";
import type { JsonObject } from "@posthaste/core/json-fragment";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Accept } from "../accept.ts";
import type { ClientAddresses } from "../client-address.ts";
import { countCalls, type IngestMetrics } from "../metrics.ts";
import { callFromData, callFromQuery, PIXEL_GIF } from "../pixel.ts";
import { addCommonHeaders, sendRefusal } from "../reply.ts";
import { toCallRequest } from "./calls.ts";

export interface PixelRouteParts {
  readonly accept: Accept;
  readonly addresses: ClientAddresses;
  readonly metrics: IngestMetrics;
}

type Query = Readonly<Record<string, unknown>>;

export function addPixelRoutes(app: FastifyInstance, { accept, addresses, metrics }: PixelRouteParts): void {
  /** An image shows whether or not its call was good; only what may arrive later is not answered 200. */
  const answer = async (request: FastifyRequest, reply: FastifyReply, type: CallType, call: JsonObject | null) => {
    if (call === null) {
      countCalls(metrics, "malformed", 1);
      return sendGif(request, reply);
    }
    const bodyBytes = Buffer.byteLength(JSON.stringify(call));
    const taken = await accept.single(type, toCallRequest(request, call, bodyBytes, addresses));
    return !taken.taken && taken.answer === "unavailable"
      ? sendRefusal(request, reply, taken)
      : sendGif(request, reply);
  };

  for (const type of ["identify", "track", "page", "screen", "group", "alias"] as const) {
    app.get<{ Querystring: Query }>(`/v1/pixel/${type}`, (request, reply) =>
      answer(request, reply, type, callFromData(request.query["data"])),
    );
  }
  for (const type of ["track", "page"] as const) {
    app.get<{ Querystring: Query }>(`/pixel/v1/${type}`, (request, reply) =>
      answer(request, reply, type, callFromQuery(request.query)),
    );
  }
}

function sendGif(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  addCommonHeaders(request, reply);
  return reply.headers({ "content-type": "image/gif", "cache-control": "no-store" }).send(PIXEL_GIF);
}
