/** The routes that take calls by POST. */
import type { JsonObject } from "@posthaste/core/json-fragment";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Accept, CallRequest } from "../accept.ts";
import { type Answer, malformed, type Refusal } from "../answer.ts";
import { writeKeyFromHeader } from "../authenticate.ts";
import type { ClientAddresses } from "../client-address.ts";
import { countCalls, type IngestMetrics } from "../metrics.ts";
import { parseBody } from "../parse-body.ts";
import { BATCH_PATHS, CALL_PATHS } from "../paths.ts";
import type { ReadBody } from "../read-body.ts";
import { sendAnswer } from "../reply.ts";

export interface CallRouteParts {
  readonly accept: Accept;
  readonly addresses: ClientAddresses;
  readonly metrics: IngestMetrics;
}

const NO_BODY = malformed("empty_body", "The request has no body; send a JSON object.");

export function addCallRoutes(app: FastifyInstance, parts: CallRouteParts): void {
  const { accept, metrics } = parts;

  const refuse = (refusal: Refusal): Refusal => {
    countCalls(metrics, refusal.answer, 1);
    return refusal;
  };

  const answerTo = (
    request: FastifyRequest,
    take: (call: CallRequest) => Promise<Answer>,
  ): Answer | Promise<Answer> => {
    const body = request.body as ReadBody | undefined;
    if (body === undefined) return refuse(NO_BODY);
    if (!Buffer.isBuffer(body)) return refuse(body);
    const busy = accept.busy();
    if (busy !== null) return refuse(busy);
    const parsed = parseBody(body);
    if ("refusal" in parsed) return refuse(parsed.refusal);
    return take(toCallRequest(request, parsed.object, body.length, parts.addresses));
  };

  for (const [path, type] of Object.entries(CALL_PATHS)) {
    app.post(path, async (request, reply) =>
      sendAnswer(request, reply, await answerTo(request, (call) => accept.single(type, call))),
    );
  }
  for (const path of BATCH_PATHS) {
    app.post(path, async (request, reply) => sendAnswer(request, reply, await answerTo(request, accept.batch)));
  }
}

/** A parsed body with what the request's headers say. */
export function toCallRequest(
  request: FastifyRequest,
  body: JsonObject,
  bodyBytes: number,
  addresses: ClientAddresses,
): CallRequest {
  const { headers } = request;
  const forwardedFor = headers["x-forwarded-for"];
  return {
    body,
    bodyBytes,
    writeKey: writeKeyFromHeader(headers.authorization) ?? writeKeyFromQuery(request),
    ip: addresses.addressOf(
      request.socket.remoteAddress,
      Array.isArray(forwardedFor) ? forwardedFor.join(",") : forwardedFor,
    ),
    userAgent: headers["user-agent"] ?? null,
  };
}

/** Beacons and pixels can set no header. */
function writeKeyFromQuery(request: FastifyRequest): string | null {
  const { writeKey } = request.query as Readonly<Record<string, unknown>>;
  return typeof writeKey === "string" && writeKey !== "" ? writeKey : null;
}
