/** The routes that take calls by POST, under every name that a client of the field has for them. */
import type { CallType } from "@posthaste/core/call";
import type { JsonObject } from "@posthaste/core/json-fragment";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Accept, CallRequest } from "../accept.ts";
import { type Answer, malformed, type Refusal } from "../answer.ts";
import { writeKeyFromHeader } from "../authenticate.ts";
import type { ClientAddresses } from "../client-address.ts";
import { countCalls, type IngestMetrics } from "../metrics.ts";
import { parseBody } from "../parse-body.ts";
import type { BodyReader, ReadBody } from "../read-body.ts";
import { sendAnswer } from "../reply.ts";

/** The last segment of a single call's path: the documented name and the browser's short one. */
export const CALL_PATHS: Readonly<Record<string, CallType>> = {
  "/v1/identify": "identify",
  "/v1/track": "track",
  "/v1/page": "page",
  "/v1/screen": "screen",
  "/v1/group": "group",
  "/v1/alias": "alias",
  "/v1/i": "identify",
  "/v1/t": "track",
  "/v1/p": "page",
  "/v1/s": "screen",
  "/v1/g": "group",
  "/v1/a": "alias",
};

/** Servers, Java, browsers and mobile devices; the last one is for pages that can set no header. */
export const BATCH_PATHS = ["/v1/batch", "/v1/import", "/v1/b", "/beacon/v1/batch"] as const;

export interface CallRouteParts {
  readonly accept: Accept;
  readonly bodies: BodyReader;
  readonly addresses: ClientAddresses;
  readonly metrics: IngestMetrics;
}

const NO_BODY = malformed("empty_body", "The request has no body; send a JSON object.");

export function addCallRoutes(app: FastifyInstance, parts: CallRouteParts): void {
  const { accept, bodies, metrics } = parts;

  const refuse = (refusal: Refusal): Refusal => {
    countCalls(metrics, refusal.answer, 1);
    return refusal;
  };

  const answerTo = async (request: FastifyRequest, take: (call: CallRequest) => Promise<Answer>): Promise<Answer> => {
    const body = request.body as ReadBody | undefined;
    if (body === undefined) return refuse(NO_BODY);
    try {
      const { content } = body;
      if (!Buffer.isBuffer(content)) return refuse(content);
      const parsed = parseBody(content);
      if ("refusal" in parsed) return refuse(parsed.refusal);
      return await take(toCallRequest(request, parsed.object, content.length, parts.addresses));
    } finally {
      bodies.release(body);
    }
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
