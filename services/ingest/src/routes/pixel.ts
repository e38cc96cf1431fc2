/** Image addresses that carry a call. */
import { traceparentIn } from "@posthaste/contracts/trace-header";
import type { CallType } from "@posthaste/core/call/call-schema";
import type { JsonObject } from "@posthaste/core/call/json-fragment";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Accept, CallRequest } from "../accept/accept.ts";
import type { Admission } from "../accept/admission.ts";
import { malformed, type Refusal, type SourcedAnswer } from "../answer/answer.ts";
import type { AnswerTurns } from "../fairness/answer-turns.ts";
import type { WorkQueue } from "../fairness/work-queue.ts";
import { type ClientAddresses, requestAddress } from "../http/client-address.ts";
import { addCommonHeaders, sendAnswer } from "../http/reply.ts";
import type { Authenticator } from "../key/authenticate.ts";
import { findWriteKeys } from "../key/body-key.ts";
import { writeKeyInHeader, writeKeyInQuery } from "../key/request-key.ts";
import { type Refusals, type RefusedSender, senderOf } from "../request/refusals.ts";
import { bytesFromData, callFromBytes, callFromQuery, PIXEL_GIF } from "./query-call.ts";
import { sendInTurn } from "./send-in-turn.ts";

export interface PixelRouteParts {
  readonly admission: Admission;
  readonly authenticator: Authenticator;
  readonly addresses: ClientAddresses;
  readonly work: WorkQueue;
  readonly answerTurns: AnswerTurns;
  readonly accept: Accept;
  readonly refusals: Refusals;
}

type Query = Readonly<Record<string, unknown>>;

/** The call that the address of an image holds. */
interface Pixel {
  readonly type: CallType;
  /** The keys in the call itself. */
  readonly keys: readonly string[];
  /** Reads the call; null when the address holds none that can be read. */
  readonly read: () => JsonObject | null;
}

export function addPixelRoutes(app: FastifyInstance, parts: PixelRouteParts): void {
  const { admission, authenticator, addresses, work, answerTurns, accept, refusals } = parts;

  /** The path of a pixel: key, bounds, parse, accept. The key is looked up before the call is read from the address. */
  const answerTo = async (request: FastifyRequest, pixel: Pixel): Promise<SourcedAnswer> => {
    const refuse = (refusal: Refusal, sender: RefusedSender) => ({
      answer: refusals.refuse(refusal, request.raw, sender),
      sourceId: sender.source?.id ?? null,
    });
    const lagging = admission.ofAnybody();
    if (lagging !== null) return refuse(lagging, { source: null });
    const key = writeKeyInHeader(request.headers) ?? writeKeyInQuery(request);
    const found = await authenticator.authenticate(key === null ? pixel.keys : [key]);
    if ("refusal" in found) return refuse(found.refusal, senderOf(found));
    const { source } = found;
    const sender = { source: source.id, address: "" };
    const crowded = admission.ofWork(sender);
    if (crowded !== null) return refuse(crowded, found);
    const call: CallRequest = {
      source: key === null ? null : source,
      countedFor: source.id,
      ip: requestAddress(request, addresses),
      userAgent: request.headers["user-agent"] ?? null,
      traceparent: traceparentIn(request.headers),
    };
    const answer = await work.run(sender, () => {
      const refusal = admission.ofSource(source);
      if (refusal !== null) return refusals.count(refusal);
      admission.countSent(source, { calls: 1, bytes: request.url.length });
      const object = pixel.read();
      if (object === null) return refusals.count(UNREADABLE);
      return accept.object(pixel.type, object, Buffer.byteLength(JSON.stringify(object)), call);
    });
    return { answer: answer.accepted ? answer : refusals.tell(answer, request.raw, found), sourceId: source.id };
  };

  /**
   * Answers with the image, whether its call was good or not; only a call that may be sent again is not answered 200.
   */
  const take = async (request: FastifyRequest, reply: FastifyReply, pixel: Pixel): Promise<FastifyReply> => {
    const { answer, sourceId } = await answerTo(request, pixel);
    const mayArriveLater = !answer.accepted && answer.answer === "unavailable";
    const send = () => (mayArriveLater ? sendAnswer(request, reply, answer) : sendGif(request, reply));
    return sendInTurn(answerTurns, sourceId, send);
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
