/** Image addresses that carry a call. */
import type { CallType } from "@posthaste/core/call/call-schema";
import type { JsonObject } from "@posthaste/core/call/json-fragment";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Accept } from "../accept.ts";
import { malformed, type Refusal } from "../answer.ts";
import type { Authenticator } from "../authenticate.ts";
import { findWriteKeys } from "../body-key.ts";
import type { ClientAddresses } from "../client-address.ts";
import { countCalls, type IngestMetrics } from "../metrics.ts";
import { bytesFromData, callFromBytes, callFromQuery, PIXEL_GIF } from "../pixel.ts";
import { addCommonHeaders, sendRefusal } from "../reply.ts";
import { keyOutsideOfBody } from "../sender.ts";
import type { WorkQueue } from "../work-queue.ts";
import { toCallRequest } from "./calls.ts";

export interface PixelRouteParts {
  readonly accept: Accept;
  readonly authenticator: Authenticator;
  readonly addresses: ClientAddresses;
  readonly work: WorkQueue;
  readonly metrics: IngestMetrics;
}

type Query = Readonly<Record<string, unknown>>;

export function addPixelRoutes(app: FastifyInstance, parts: PixelRouteParts): void {
  const { accept, authenticator, addresses, work, metrics } = parts;

  /** An image shows whether or not its call was good; only what may arrive later is not answered 200. */
  const answer = (request: FastifyRequest, reply: FastifyReply, refusal: Refusal | null) =>
    refusal?.answer === "unavailable" ? sendRefusal(request, reply, refusal) : sendGif(request, reply);

  const counted = (refusal: Refusal): Refusal => {
    countCalls(metrics, refusal.answer, 1);
    return refusal;
  };

  const refuse = (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) =>
    answer(request, reply, counted(refusal));

  /** The key is asked for before the call is made of the address. */
  const take = async (
    request: FastifyRequest,
    reply: FastifyReply,
    pixel: { readonly type: CallType; readonly keys: readonly string[]; readonly read: () => JsonObject | null },
  ) => {
    const lagging = accept.busy(null);
    if (lagging !== null) return refuse(request, reply, lagging);
    const outside = keyOutsideOfBody(request);
    const authentication = await authenticator.authenticate(outside === null ? pixel.keys : [outside]);
    if ("refusal" in authentication) return refuse(request, reply, authentication.refusal);
    const { source } = authentication;
    if (outside !== null) request.source = source;
    const sender = { source: source.id, address: "" };
    const crowded = accept.crowded(sender);
    if (crowded !== null) return refuse(request, reply, crowded);
    const taken = await work.run(sender, () => {
      const refusal = accept.busy(source);
      if (refusal !== null) return counted(refusal);
      accept.count(source, { calls: 1, bytes: request.url.length });
      const call = pixel.read();
      if (call === null) return counted(UNREADABLE);
      const bytes = Buffer.byteLength(JSON.stringify(call));
      return accept.object(pixel.type, call, bytes, toCallRequest(request, source, addresses));
    });
    return answer(request, reply, taken.taken ? null : taken);
  };

  for (const type of ["identify", "track", "page", "screen", "group", "alias"] as const) {
    app.get<{ Querystring: Query }>(`/v1/pixel/${type}`, (request, reply) => {
      const bytes = bytesFromData(request.query["data"]);
      return take(request, reply, { type, keys: findWriteKeys(bytes), read: () => callFromBytes(bytes) });
    });
  }
  for (const type of ["track", "page"] as const) {
    app.get<{ Querystring: Query }>(`/pixel/v1/${type}`, (request, reply) =>
      take(request, reply, { type, keys: [], read: () => callFromQuery(request.query) }),
    );
  }
}

const UNREADABLE = malformed("malformed_request", "There is no call in the address that can be read.");

function sendGif(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  addCommonHeaders(request, reply);
  return reply.headers({ "content-type": "image/gif", "cache-control": "no-store" }).send(PIXEL_GIF);
}
