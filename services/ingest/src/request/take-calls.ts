/**
 * The path of a request that sends calls. `takeCalls` tells it from top to bottom: key, bounds, body, parse, accept,
 * answer.
 *
 * TC1  A key in the header or the address is looked up before the body is read.
 * TC2  A key that only the body has is searched in the body's bytes before they are parsed; a brotli body is not
 *      searched.
 * TC3  A request that waits for the table of sources holds no more than its body as it was sent.
 * TC4  For an address that is a crowd (QW7 of work-queue.ts) less of a body is inflated to find its key, and the sender
 *      of a larger body is asked to send it again.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { traceparentIn } from "@posthaste/contracts/trace-header";
import type { CallType } from "@posthaste/core/call/call-schema";
import type { Source } from "@posthaste/core/config/source";
import type { Clock } from "@posthaste/core/time";
import type { Accept, CallRequest } from "../accept/accept.ts";
import type { Admission } from "../accept/admission.ts";
import { type Answer, type Refusal, SAYS_TOO_MUCH, type SourcedAnswer } from "../answer/answer.ts";
import type { BodySender } from "../body/body-budget.ts";
import { type BodyOpener, GONE, type OpenedBody } from "../body/decompress.ts";
import { saysTooMuch } from "../body/inflated-body.ts";
import { type BodyReader, isSentBody, type ReadBody } from "../body/read-body.ts";
import type { SentBody } from "../body/sent-body.ts";
import type { ActiveRequests } from "../fairness/active-requests.ts";
import type { Steps, WorkQueue, WorkSender } from "../fairness/work-queue.ts";
import { type ClientAddresses, requestAddress } from "../http/client-address.ts";
import type { Authentication, Authenticator } from "../key/authenticate.ts";
import { findWriteKeys } from "../key/body-key.ts";
import type { ConnectionKeys } from "../key/connection-keys.ts";
import { writeKeyInHeader } from "../key/request-key.ts";
import { MAX_CALL_BYTES, MAX_REQUEST_BYTES } from "../limits.ts";
import { Exchange } from "./exchange.ts";
import { type Refusals, type RefusedSender, senderOf } from "./refusals.ts";

export interface TakeCallsParts {
  readonly admission: Admission;
  readonly authenticator: Authenticator;
  readonly connectionKeys: ConnectionKeys;
  readonly clock: Pick<Clock, "nowMs">;
  readonly activeRequests: ActiveRequests;
  readonly addresses: ClientAddresses;
  readonly bodies: Pick<BodyReader, "read">;
  readonly opener: BodyOpener;
  readonly work: WorkQueue;
  readonly accept: Accept;
  readonly refusals: Refusals;
}

/** The body that a path takes: one call of its type, or a batch. */
export type CallForm = CallType | "batch";

/** The facts that the address of a request tells. */
export interface CallAddress {
  readonly form: CallForm;
  /** The write key in the query. */
  readonly queryKey: string | null;
}

/** Resolves with the answer to a request once its calls are acknowledged or refused. */
export type TakeCalls = (
  request: IncomingMessage,
  response: ServerResponse,
  address: CallAddress,
) => Promise<SourcedAnswer>;

export function createTakeCalls(parts: TakeCallsParts): TakeCalls {
  const { admission, addresses, refusals } = parts;
  const steps = new PathSteps(parts);

  const answerTo = async (request: IncomingMessage, exchange: Exchange, { form, queryKey }: CallAddress) => {
    const address = requestAddress(request, addresses);
    const lagging = admission.ofAnybody();
    if (lagging !== null) {
      const sender = steps.senderOutsideOfBody(request, queryKey);
      exchange.sourceId = sender.source?.id ?? null;
      return refusals.refuse(lagging, request, sender);
    }

    // The key, where the header or the address has it, and the bounds of its source (TC1).
    const naming = steps.sourceOutsideOfBody(request, queryKey);
    const named = naming instanceof Promise ? await naming : naming;
    if (named !== null) {
      if ("refusal" in named) return refusals.refuse(named.refusal, request, senderOf(named));
      exchange.sourceId = named.source.id;
      const refusal = steps.boundsOf(named.source);
      if (refusal !== null)
        return refusals.tellLater(refusals.count(refusal), request, { source: named.source, exchange });
      steps.beginRequest(exchange, named.source);
    }

    // The body, as it was sent.
    const body = await steps.readBody(request, exchange, { source: named?.source.id ?? null, address: address ?? "" });
    if (!isSentBody(body)) return refusals.refuse(body, request, { source: named?.source ?? null });

    // The key, where only the body has it (TC2), and the bounds of work.
    const found = named ?? (await steps.sourceInBody(body, address ?? ""));
    if ("refusal" in found) return refusals.refuse(found.refusal, request, { ...senderOf(found), body });
    const { source } = found;
    exchange.sourceId = source.id;
    const crowded = admission.ofWork(workSender(source)) ?? (named === null ? admission.ofActiveRequest(source) : null);
    if (crowded !== null) return steps.tellLater(refusals.count(crowded), request, exchange, { source, body });
    if (named === null) steps.beginRequest(exchange, source);

    // Inflating, parsing and accepting are work in fair order.
    const call = {
      ...{ source: named?.source ?? null, countedFor: source.id, ip: address },
      userAgent: request.headers["user-agent"] ?? null,
      traceparent: traceparentIn(request.headers),
    };
    const answer =
      form === "batch"
        ? await steps.acceptBatch(body, source, call)
        : await steps.acceptSingle(form, body, source, call);
    if (answer.accepted) return answer;
    if (answer.answer === "rate_limited") return steps.tellLater(answer, request, exchange, { source, body });
    // The key that counts may differ from the key that was found.
    return refusals.tell(answer, request, { source: answer.answer === "unauthorized" ? null : source, body });
  };

  return async (request, response, address) => {
    const exchange = new Exchange(response);
    const answer = await answerTo(request, exchange, address);
    return { answer, sourceId: exchange.sourceId };
  };
}

/** The steps of the path, in the order in which a request takes them. */
class PathSteps {
  readonly #parts: TakeCallsParts;

  constructor(parts: TakeCallsParts) {
    this.#parts = parts;
  }

  /** The source of the key in the header, or else in the address; null where only the body has a key. */
  sourceOutsideOfBody(
    { headers, socket }: IncomingMessage,
    queryKey: string | null,
  ): Authentication | Promise<Authentication> | null {
    const { authenticator, connectionKeys, clock } = this.#parts;
    const { authorization } = headers;
    if (authorization === undefined) return queryKey === null ? null : authenticator.authenticate([queryKey]);
    const nowMs = clock.nowMs();
    const again = connectionKeys.find(socket, authorization, nowMs);
    if (again !== undefined) return again;
    const inHeader = writeKeyInHeader(headers);
    const key = inHeader ?? queryKey;
    if (key === null) return null;
    const found = authenticator.authenticate([key]);
    if (inHeader !== null && "source" in found) connectionKeys.remember(socket, authorization, found, nowMs);
    return found;
  }

  /** The sender by the key outside of the body, as far as it is known at once; for a request that is refused anyway. */
  senderOutsideOfBody({ headers }: IncomingMessage, queryKey: string | null): RefusedSender {
    const key = writeKeyInHeader(headers) ?? queryKey;
    if (key === null) return { source: null };
    const found = this.#parts.authenticator.known(key);
    return "source" in found ? found : senderOf(found);
  }

  /** The refusal of a source's request before its body is read; null when it may go on. */
  boundsOf(source: Source): Refusal | null {
    const { admission } = this.#parts;
    return admission.ofSource(source) ?? admission.ofWork(workSender(source)) ?? admission.ofActiveRequest(source);
  }

  /** Counts the request among its source's active requests until its response closes. */
  beginRequest(exchange: Exchange, { id }: Source): void {
    exchange.untilClose(this.#parts.activeRequests.begin(id));
  }

  readBody(request: IncomingMessage, exchange: Exchange, sender: BodySender): ReadBody | Promise<ReadBody> {
    if (exchange.isOver) return GONE;
    const held = this.#parts.bodies.read(request, sender);
    exchange.holdBody(() => held.release());
    return held.content;
  }

  /**
   * Reports the refusal of a source that sends too much, and answers it at once or later. The body is released before.
   */
  tellLater(
    refusal: Refusal,
    request: IncomingMessage,
    exchange: Exchange,
    sender: { readonly source: Source; readonly body: SentBody },
  ): Promise<Refusal> {
    const reported = this.#parts.refusals.tellLater(refusal, request, { ...sender, exchange });
    exchange.letBodyGo();
    return reported;
  }

  /**
   * The source of a known key in the body. It need not be the key that counts, and the inflated content in which it was
   * found is not kept (TC3).
   */
  sourceInBody(body: SentBody, address: string): Authentication | Promise<Authentication> {
    const { admission, authenticator, work } = this.#parts;
    const sender: WorkSender = { source: null, address };
    const refusal = admission.ofAnybody() ?? admission.ofWork(sender);
    if (refusal !== null) return { refusal };
    return work.run(sender, () => {
      const opened = this.#parts.opener.openForKey(body, work.isCrowd(address));
      return "refusal" in opened ? opened : authenticator.authenticate(findWriteKeys(opened.content));
    });
  }

  acceptSingle(type: CallType, body: SentBody, source: Source, call: CallRequest): Answer | Promise<Answer> {
    const { work, accept, refusals } = this.#parts;
    return work.run(workSender(source), () => {
      const opened = this.#contentOf(body, source);
      if ("refusal" in opened) return refusals.count(opened.refusal);
      const { content } = opened;
      // A call that is too large is never parsed; it is kept.
      const isParsed = content.length <= MAX_CALL_BYTES;
      if (isParsed && saysTooMuch(content, body.bytes?.length ?? 0)) return refusals.count(SAYS_TOO_MUCH);
      return accept.single(type, content, call);
    });
  }

  acceptBatch(body: SentBody, source: Source, call: CallRequest): Answer | Promise<Answer> {
    const { work } = this.#parts;
    const steps = () => this.#batchSteps(body, source, call);
    return mayBeLong(body) ? work.runInSteps(source.id, steps) : work.run(workSender(source), () => toEnd(steps()));
  }

  *#batchSteps(body: SentBody, source: Source, call: CallRequest): Steps<Answer> {
    const { accept, refusals } = this.#parts;
    const opened = this.#contentOf(body, source);
    if ("refusal" in opened) return refusals.count(opened.refusal);
    yield;
    const sentBytes = body.bytes?.length ?? 0;
    if (saysTooMuch(opened.content, sentBytes)) return refusals.count(SAYS_TOO_MUCH);
    yield;
    return yield* accept.batch(opened.content, sentBytes, call);
  }

  /** Opens a body at the beginning of its work, and counts it for its source. */
  #contentOf(body: SentBody, source: Source): OpenedBody {
    const { admission } = this.#parts;
    const refusal = admission.ofSource(source);
    if (refusal !== null) return { refusal };
    const opened = this.#parts.opener.open(body);
    admission.countSent(source, { calls: 1, bytes: openedBytes(opened, body) });
    return opened;
  }
}

function workSender({ id }: Source): WorkSender {
  return { source: id, address: "" };
}

/** Whether the work on a batch may be long. A small batch that is not compressed is done in one piece. */
function mayBeLong({ bytes, encoding }: SentBody): boolean {
  return encoding !== undefined || bytes === null || bytes.length > MAX_CALL_BYTES;
}

/** The result of work whose steps are done one right after the other. */
function toEnd<Result>(steps: Steps<Result>): Result | Promise<Result> {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
  }
}

/** How many bytes a body counts for. One that is too large after decompression was inflated up to the limit. */
function openedBytes(opened: OpenedBody, { bytes }: SentBody): number {
  if ("content" in opened) return opened.content.length;
  return opened.refusal.answer === "too_large" ? MAX_REQUEST_BYTES : (bytes?.length ?? 0);
}
