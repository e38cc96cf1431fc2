/** The routes that take calls by POST. */
import type { Source } from "@posthaste/core/source";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Accept, CallRequest } from "../accept.ts";
import { type Answer, malformed, type Refusal } from "../answer.ts";
import type { Authentication, Authenticator } from "../authenticate.ts";
import { type ClientAddresses, requestAddress } from "../client-address.ts";
import { MAX_REQUEST_BYTES } from "../limits.ts";
import { countCalls, type IngestMetrics } from "../metrics.ts";
import { BATCH_PATHS, CALL_PATHS } from "../paths.ts";
import { isSentBody, type ReadBody, type SentBody } from "../read-body.ts";
import { sendAnswer, sendRefusal } from "../reply.ts";
import { type BodySource, keyOutsideOfBody, type OpenedBody, open, sourceInBody } from "../sender.ts";

export interface CallRouteParts {
  readonly accept: Accept;
  readonly authenticator: Authenticator;
  readonly addresses: ClientAddresses;
  readonly metrics: IngestMetrics;
}

const NO_BODY = malformed("empty_body", "The request has no body; send a JSON object.");

type Take = (content: Buffer, request: CallRequest) => Answer | Promise<Answer>;

export function addCallRoutes(app: FastifyInstance, parts: CallRouteParts): void {
  const { accept, authenticator, metrics } = parts;

  const refuse = (refusal: Refusal): Refusal => {
    countCalls(metrics, refusal.answer, 1);
    return refusal;
  };

  /** What can be said without the body, before it is read (S1). */
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const busy = accept.busy(null);
    const key = keyOutsideOfBody(request);
    const go = (authentication: Authentication) => {
      const refusal = "refusal" in authentication ? authentication.refusal : accept.busy(authentication.source);
      if (refusal !== null) {
        sendRefusal(request, reply, refuse(refusal));
        return;
      }
      if ("source" in authentication) request.source = authentication.source;
      done();
    };
    if (busy !== null) go({ refusal: busy });
    else if (key === null) done();
    else {
      const authentication = authenticator.authenticate([key]);
      if (authentication instanceof Promise) authentication.then(go, (error: unknown) => reply.send(error));
      else go(authentication);
    }
  };

  const answerTo = (request: FastifyRequest, take: Take): Answer | Promise<Answer> => {
    const body = request.body as ReadBody | undefined;
    if (body === undefined) return refuse(NO_BODY);
    if (!isSentBody(body)) return refuse(body);
    const takeFrom = (found: BodySource): Answer | Promise<Answer> => {
      if ("refusal" in found) return refuse(found.refusal);
      const { source } = found;
      // Asked again, since the body may have taken its time.
      const busy = accept.busy(source);
      if (busy !== null) return refuse(busy);
      const opened = found.content === undefined ? open(body) : { content: found.content };
      accept.count(source, { calls: 1, bytes: openedBytes(opened, body) });
      if ("refusal" in opened) return refuse(opened.refusal);
      return take(opened.content, toCallRequest(request, source, parts.addresses));
    };
    if (request.source !== null) return takeFrom({ source: request.source });
    const busy = accept.busy(null);
    if (busy !== null) return refuse(busy);
    const found = sourceInBody(body, authenticator);
    return found instanceof Promise ? found.then(takeFrom) : takeFrom(found);
  };

  for (const [path, type] of Object.entries(CALL_PATHS)) {
    app.post(path, { onRequest }, async (request, reply) =>
      sendAnswer(request, reply, await answerTo(request, (content, call) => accept.single(type, content, call))),
    );
  }
  for (const path of BATCH_PATHS) {
    app.post(path, { onRequest }, async (request, reply) =>
      sendAnswer(request, reply, await answerTo(request, accept.batch)),
    );
  }
}

/** What a body counts for; one that is too large after decompression was followed to the limit. */
function openedBytes(opened: OpenedBody, { bytes }: SentBody): number {
  if ("content" in opened) return opened.content.length;
  return opened.refusal.answer === "too_large" ? MAX_REQUEST_BYTES : bytes.length;
}

/** What a request's headers say; `countedFor` is the source that it was counted for. */
export function toCallRequest(request: FastifyRequest, countedFor: Source, addresses: ClientAddresses): CallRequest {
  return {
    source: request.source,
    countedFor: countedFor.id,
    ip: requestAddress(request, addresses),
    userAgent: request.headers["user-agent"] ?? null,
  };
}
