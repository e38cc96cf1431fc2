/** The routes that take calls by POST. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Accept, CallRequest } from "../accept.ts";
import { type Answer, malformed, type Refusal } from "../answer.ts";
import type { Authentication, Authenticator } from "../authenticate.ts";
import { type ClientAddresses, requestAddress } from "../client-address.ts";
import { countCalls, type IngestMetrics } from "../metrics.ts";
import { BATCH_PATHS, CALL_PATHS } from "../paths.ts";
import { isSentBody, type ReadBody } from "../read-body.ts";
import { sendAnswer, sendRefusal } from "../reply.ts";
import { type KnownBody, keyOutsideOfBody, open, openWithKeyInBody } from "../sender.ts";

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
    const busy = accept.busy();
    const key = keyOutsideOfBody(request);
    const go = (authentication: Authentication | null) => {
      if (authentication !== null && "refusal" in authentication) {
        sendRefusal(request, reply, refuse(authentication.refusal));
        return;
      }
      request.source = authentication?.source ?? null;
      done();
    };
    if (busy !== null) go({ refusal: busy });
    else if (key === null) go(null);
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
    // Asked again, since the body may have taken its time.
    const busy = accept.busy();
    if (busy !== null) return refuse(busy);
    const takeKnown = (known: KnownBody) =>
      "refusal" in known ? refuse(known.refusal) : take(known.content, toCallRequest(request, parts.addresses));
    if (request.source !== null) return takeKnown(open(body));
    const known = openWithKeyInBody(body, authenticator);
    return known instanceof Promise ? known.then(takeKnown) : takeKnown(known);
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

/** What a request's headers say. */
export function toCallRequest(request: FastifyRequest, addresses: ClientAddresses): CallRequest {
  return {
    source: request.source,
    ip: requestAddress(request, addresses),
    userAgent: request.headers["user-agent"] ?? null,
  };
}
