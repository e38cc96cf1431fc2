/**
 * The verdict on one delivery. What is known is gone through in the order of time; each fact ends what was open of the
 * URLs that it is about, and opens what it says itself.
 */
import type { AttemptRecord, DeferralRecord, LoggedFollowUp } from "../delivery/attempt-record.ts";
import { classifyStatus } from "../delivery/outcome.ts";
import type { DeliveryFacts, LetterFact } from "./delivery-facts.ts";
import { type DeliveryVerdict, type UrlAnswer, VERDICT_CAUSES } from "./verdict.ts";

/** What is open of some URLs; null for all that the delivery owes. */
interface Open {
  readonly urls: readonly string[] | null;
  readonly verdict: DeliveryVerdict;
}

type Fact =
  | { readonly atMs: number; readonly attempt: AttemptRecord }
  | { readonly atMs: number; readonly deferral: DeferralRecord }
  | { readonly atMs: number; readonly letter: LetterFact };

/** Answers null where nothing is known of the delivery. `nowMs`: ms since the epoch. */
export function judgeDelivery(facts: DeliveryFacts, nowMs: number): DeliveryVerdict | null {
  let open: readonly Open[] = [];
  let delivered: DeliveryVerdict | null = null;
  for (const fact of inOrder(facts)) {
    if ("attempt" in fact) {
      const { attempt } = fact;
      const called = attempt.urls.map(({ url }) => url);
      open = [
        ...open.filter(({ urls }) => !meet(urls, called)),
        ...attempt.followUps.map((each) => opened(attempt, each)),
      ];
      delivered = deliveredBy(attempt) ?? delivered;
    } else if ("deferral" in fact) {
      const { deferral } = fact;
      open = [
        ...open.filter(({ urls }) => !meet(urls, deferral.urls)),
        { urls: deferral.urls, verdict: deferredOf(deferral, nowMs) },
      ];
    } else {
      const { letter } = fact;
      const urls = letter.lastAttempt.length === 0 ? null : letter.lastAttempt.map(({ url }) => url);
      open = [...open.filter((each) => !meet(each.urls, urls)), { urls, verdict: deadOf(letter) }];
    }
  }
  return worst(open) ?? delivered;
}

/** Of one moment an attempt comes first, then what followed it. */
function inOrder({ attempts, deferrals, letters }: DeliveryFacts): readonly Fact[] {
  const all: Fact[] = [
    ...attempts.map((attempt) => ({ atMs: attempt.startedAtMs, attempt })),
    ...deferrals.map((deferral) => ({ atMs: deferral.deferredAtMs, deferral })),
    ...letters.map((letter) => ({ atMs: letter.deadAtMs, letter })),
  ];
  return all.sort((a, b) => a.atMs - b.atMs);
}

function meet(some: readonly string[] | null, others: readonly string[] | null): boolean {
  return some === null || others === null || some.some((url) => others.includes(url));
}

function worst(open: readonly Open[]): DeliveryVerdict | null {
  const verdicts = open.map(({ verdict }) => verdict);
  verdicts.sort((a, b) => VERDICT_CAUSES.indexOf(a.cause) - VERDICT_CAUSES.indexOf(b.cause));
  return verdicts[0] ?? null;
}

function opened(attempt: AttemptRecord, followUp: LoggedFollowUp): Open {
  const { urls } = followUp;
  const last = answersOf(attempt).filter(({ url }) => urls === null || urls.includes(url));
  const tries = attempt.attempt;
  if (followUp.kind !== "retry") {
    const reason = followUp.reason ?? followUp.kind;
    // The letter itself says more, where it is held: it comes later, and ends this.
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

function deadOf({ deadAtMs, reason, reasonClass, attempts, lastAttempt, place }: LetterFact): DeliveryVerdict {
  // A deletion request stopped it; the letter holds nothing of the user, and cannot be sent again.
  if (reason === "suppressed") return { cause: "suppressed", atMs: deadAtMs, tries: attempts };
  const last = lastAttempt.map(({ url, status, error }) => ({ url, status, error }));
  return { cause: "dead_letter", atMs: deadAtMs, reason, reasonClass, tries: attempts, last, place };
}

function deliveredBy(attempt: AttemptRecord): DeliveryVerdict | null {
  const took = attempt.urls.find(({ status }) => isSuccess(status));
  if (attempt.outcome !== "delivered" || took === undefined) return null;
  const others = answersOf(attempt).filter(({ url }) => url !== took.url);
  const atMs = Math.round(attempt.startedAtMs + took.durationMs);
  const cause = others.every(({ status }) => isSuccess(status)) ? "delivered" : "delivered_elsewhere";
  return { cause, atMs, url: took.url, durationMs: took.durationMs, tries: attempt.attempt, others };
}

function answersOf({ urls }: AttemptRecord): readonly UrlAnswer[] {
  return urls.map(({ url, status, error }) => ({ url, status, error }));
}

function isSuccess(status: number | null): boolean {
  return status !== null && classifyStatus(status) === "delivered";
}
