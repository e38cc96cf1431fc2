/** The routes that take calls by POST. */
import type { CallType } from "@posthaste/core/call/call-schema";
import type { Source } from "@posthaste/core/config/source";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Accept, CallRequest } from "../accept.ts";
import { type Answer, malformed, type Refusal, tooLarge } from "../answer.ts";
import type { Authentication, Authenticator } from "../authenticate.ts";
import { type ClientAddresses, requestAddress } from "../client-address.ts";
import { saysTooMuch } from "../inflated-body.ts";
import type { LateRefusals } from "../late-refusals.ts";
import { MAX_CALL_BYTES, MAX_REQUEST_BYTES } from "../limits.ts";
import { countCalls, type IngestMetrics } from "../metrics.ts";
import { BATCH_PATHS, CALL_PATHS } from "../paths.ts";
import { isSentBody, type ReadBody, type SentBody } from "../read-body.ts";
import { sendAnswer, sendRefusal } from "../reply.ts";
import { GONE, keyOutsideOfBody, type OpenedBody, open, sourceInBody } from "../sender.ts";
import type { UnderWay } from "../under-way.ts";
import type { Steps, WorkQueue, WorkSender } from "../work-queue.ts";

export interface CallRouteParts {
  readonly accept: Accept;
  readonly authenticator: Authenticator;
  readonly addresses: ClientAddresses;
  readonly work: WorkQueue;
  readonly underWay: UnderWay;
  readonly lateRefusals: LateRefusals;
  readonly metrics: IngestMetrics;
}

const NO_BODY = malformed("empty_body", "The request has no body; send a JSON object.");

const TOO_MUCH = tooLarge(
  "request_too_large",
  "Compressed, the body holds more objects and values than its size allows; send smaller batches, or without compression.",
);

type Take = (body: SentBody, source: Source, request: CallRequest) => Answer | Promise<Answer>;

export function addCallRoutes(app: FastifyInstance, parts: CallRouteParts): void {
  const { accept, authenticator, addresses, work, underWay, lateRefusals, metrics } = parts;

  const refuse = (refusal: Refusal): Refusal => {
    if (refusal !== GONE) countCalls(metrics, refusal.answer, 1);
    return refusal;
  };

  /** What can be said without the body, before it is read (S1). */
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const lagging = accept.busy(null);
    const key = keyOutsideOfBody(request);
    const tell = (refusal: Refusal) => {
      sendRefusal(request, reply, refuse(refusal));
    };
    const go = (authentication: Authentication) => {
      if ("refusal" in authentication) return tell(authentication.refusal);
      const { source } = authentication;
      const refusal = accept.busy(source) ?? accept.crowded(senderOf(source)) ?? accept.crowding(source);
      if (refusal !== null) return lateRefusals.refuse(source.id, () => tell(refusal));
      begin(request, source);
      request.source = source;
      done();
    };
    if (lagging !== null) tell(lagging);
    else if (key === null) done();
    else {
      const authentication = authenticator.authenticate([key]);
      if (authentication instanceof Promise) authentication.then(go, (error: unknown) => reply.send(error));
      else go(authentication);
    }
  };

  /** Of a sender that left while its source was looked for nothing is under way: its response has closed already. */
  const begin = ({ response, socket }: FastifyRequest, { id }: Source) => {
    if (!socket.destroyed) response?.once("close", underWay.begin(id));
  };

  const later = ({ id }: Source, refusal: () => Refusal): Promise<Refusal> =>
    new Promise((resolve) => lateRefusals.refuse(id, () => resolve(refusal())));

  /** The content of a body when its turn comes, counted for its source. */
  const contentOf = (body: SentBody, source: Source): OpenedBody => {
    const busy = accept.busy(source);
    if (busy !== null) return { refusal: busy };
    const opened = open(body);
    accept.count(source, { calls: 1, bytes: openedBytes(opened, body) });
    return opened;
  };

  /** Whose a body is that names its key itself. */
  const findSource = (request: FastifyRequest, body: SentBody): Authentication | Promise<Authentication> => {
    const sender: WorkSender = { source: null, address: requestAddress(request, addresses) ?? "" };
    const refusal = accept.busy(null) ?? accept.crowded(sender);
    return refusal === null ? work.run(sender, () => sourceInBody(body, authenticator)) : { refusal };
  };

  const answerTo = (request: FastifyRequest, take: Take): Answer | Promise<Answer> => {
    const body = request.body as ReadBody | undefined;
    if (body === undefined) return refuse(NO_BODY);
    if (!isSentBody(body)) return refuse(body);
    const takeFrom = (found: Authentication): Answer | Promise<Answer> => {
      if ("refusal" in found) return refuse(found.refusal);
      const { source } = found;
      const isNew = request.source === null;
      const crowded = accept.crowded(senderOf(source)) ?? (isNew ? accept.crowding(source) : null);
      if (crowded !== null) return later(source, () => refuse(crowded));
      if (isNew) begin(request, source);
      return take(body, source, toCallRequest(request, source, addresses));
    };
    if (request.source !== null) return takeFrom({ source: request.source });
    const found = findSource(request, body);
    return found instanceof Promise ? found.then(takeFrom) : takeFrom(found);
  };

  const takeSingle =
    (type: CallType): Take =>
    (body, source, call) =>
      work.run(senderOf(source), () => {
        const opened = contentOf(body, source);
        return "refusal" in opened ? refuse(opened.refusal) : accept.single(type, opened.content, call);
      });

  const takeBatch: Take = (body, source, call) => {
    const steps = function* (): Steps<Answer> {
      const opened = contentOf(body, source);
      if ("refusal" in opened) return refuse(opened.refusal);
      yield;
      if (saysTooMuch(opened.content, body.bytes?.length ?? 0)) return refuse(TOO_MUCH);
      yield;
      return yield* accept.batch(opened.content, call);
    };
    return mayBeLong(body) ? work.runInSteps(source.id, steps) : work.run(senderOf(source), () => toEnd(steps()));
  };

  for (const [path, type] of Object.entries(CALL_PATHS)) {
    const take = takeSingle(type);
    app.post(path, { onRequest }, async (request, reply) => sendAnswer(request, reply, await answerTo(request, take)));
  }
  for (const path of BATCH_PATHS) {
    app.post(path, { onRequest }, async (request, reply) =>
      sendAnswer(request, reply, await answerTo(request, takeBatch)),
    );
  }
}

function senderOf({ id }: Source): WorkSender {
  return { source: id, address: "" };
}

/** A small batch that is not compressed is done in one piece. */
function mayBeLong({ bytes, encoding }: SentBody): boolean {
  return encoding !== undefined || bytes === null || bytes.length > MAX_CALL_BYTES;
}

/** What work in steps comes to when nothing else is done in between. */
function toEnd<Result>(steps: Steps<Result>): Result | Promise<Result> {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
  }
}

/** What a body counts for; one that is too large after decompression was followed to the limit. */
function openedBytes(opened: OpenedBody, { bytes }: SentBody): number {
  if ("content" in opened) return opened.content.length;
  return opened.refusal.answer === "too_large" ? MAX_REQUEST_BYTES : (bytes?.length ?? 0);
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
