/**
 * The verdict on one delivery. `judgeDelivery` goes through the facts in the order of time: each fact closes the open
 * states of its URLs, and opens its own.
 */
import type { Destination } from "../config/destination.ts";
import type { AttemptRecord, DeferralRecord, LoggedFollowUp } from "../delivery/attempt-record.ts";
import type { DeadLetterFact, DeliveryFacts } from "./delivery-facts.ts";
import { factsInOrder, isDeliveredStatus, type OwedUrls, sharesUrl, takenBy, urlsOf } from "./fact-order.ts";
import { type DeliveryVerdict, type UrlAnswer, VERDICT_CAUSES } from "./verdict.ts";

/** An open state of some URLs of the delivery. */
interface Open {
  readonly urls: OwedUrls;
  readonly verdict: DeliveryVerdict;
}

/**
 * Null where no fact is known. `nowMs`: ms since the epoch. `settle`: of the destination, where it is known. Under
 * `any` each fact is of the whole delivery, also where the destination's URLs were changed between two; else of its
 * URLs.
 */
export function judgeDelivery(
  facts: DeliveryFacts,
  nowMs: number,
  settle: Destination["settle"] = "each",
): DeliveryVerdict | null {
  let open: readonly Open[] = [];
  let delivered: DeliveryVerdict | null = null;
  for (const fact of factsInOrder(facts)) {
    const urls = settle === "any" ? null : urlsOf(fact);
    const left = open.filter((each) => !sharesUrl(each.urls, urls));
    if ("attempt" in fact) {
      const { attempt } = fact;
      open = [...left, ...attempt.followUps.map((each) => opened(attempt, each))];
      delivered = deliveredBy(attempt) ?? delivered;
    } else {
      open = [
        ...left,
        { urls, verdict: "deadLetter" in fact ? deadOf(fact.deadLetter) : deferredOf(fact.deferral, nowMs) },
      ];
    }
  }
  return leastFinished(open) ?? delivered;
}

/** A URL that is still tried comes before one that was given up, which the verdict names beside it. */
function leastFinished(open: readonly Open[]): DeliveryVerdict | null {
  const inOrder = open.toSorted((a, b) => rankOf(a) - rankOf(b));
  const [first] = inOrder;
  if (first === undefined || !isTried(first.verdict)) return first?.verdict ?? null;
  const dead = inOrder.find(({ verdict }) => verdict.cause === "dead_letter");
  if (dead?.verdict.cause !== "dead_letter") return first.verdict;
  return { ...first.verdict, givenUp: { urls: dead.urls ?? [], place: dead.verdict.place } };
}

function rankOf({ verdict }: Open): number {
  return VERDICT_CAUSES.indexOf(verdict.cause) + (isTried(verdict) ? 0 : VERDICT_CAUSES.length);
}

function isTried(verdict: DeliveryVerdict): verdict is Extract<DeliveryVerdict, { readonly dueAtMs: unknown }> {
  return verdict.cause === "waiting_retry" || verdict.cause === "deferred";
}

function opened(attempt: AttemptRecord, followUp: LoggedFollowUp): Open {
  const { urls } = followUp;
  const last = answersOf(attempt).filter(({ url }) => urls === null || urls.includes(url));
  const tries = attempt.attempt;
  if (followUp.kind !== "retry") {
    const reason = followUp.reason ?? followUp.kind;
    // The dead letter itself says more where it is known: its fact comes later, and closes this.
    const atMs = attempt.startedAtMs;
    if (reason === "suppressed") return { urls, verdict: { cause: "suppressed", atMs, tries } };
    return { urls, verdict: { cause: "dead_letter", atMs, reason, reasonClass: null, tries, last, place: null } };
  }
  const { delayMs, dueAtMs, deadlineMs } = followUp;
  const due = { dueAtMs: dueAtMs ?? attempt.startedAtMs, delayMs: delayMs ?? 0, deadlineMs };
  return { urls, verdict: { cause: "waiting_retry", ...due, tries, urls, last } };
}

function deferredOf(deferral: DeferralRecord, nowMs: number): DeliveryVerdict {
  const { cause, deferredAtMs: sinceMs, deadlineMs, attempts } = deferral;
  const dueAtMs = deferral.dueAtMs > nowMs ? deferral.dueAtMs : null;
  return { cause: "deferred", deferredCause: cause, sinceMs, dueAtMs, deadlineMs, tries: attempts };
}

function deadOf({ deadAtMs, reason, reasonClass, attempts, lastAttempt, place }: DeadLetterFact): DeliveryVerdict {
  // A deletion request stopped the delivery; its dead letter has nothing of the user, and cannot be sent again.
  if (reason === "suppressed") return { cause: "suppressed", atMs: deadAtMs, tries: attempts };
  const last = lastAttempt.map(({ url, status, error }) => ({ url, status, error }));
  return { cause: "dead_letter", atMs: deadAtMs, reason, reasonClass, tries: attempts, last, place };
}

function deliveredBy(attempt: AttemptRecord): DeliveryVerdict | null {
  const took = takenBy(attempt);
  if (took === undefined) return null;
  const others = answersOf(attempt).filter(({ url }) => url !== took.url);
  const atMs = Math.round(attempt.startedAtMs + took.durationMs);
  const cause = others.every(({ status }) => isDeliveredStatus(status)) ? "delivered" : "delivered_elsewhere";
  return { cause, atMs, url: took.url, durationMs: took.durationMs, tries: attempt.attempt, others };
}

function answersOf({ urls }: AttemptRecord): readonly UrlAnswer[] {
  return urls.map(({ url, status, error }) => ({ url, status, error }));
}
