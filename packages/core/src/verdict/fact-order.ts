/** The order of a delivery's facts, the same in every process: by time, then by kind, then by whatever else differs. */
import type { AttemptRecord, DeferralRecord } from "../delivery/attempt-record.ts";
import { classifyStatus } from "../delivery/outcome.ts";
import type { DeadLetterFact, DeliveryFacts } from "./delivery-facts.ts";

/** URLs of a delivery; null for all that it owes. */
export type OwedUrls = readonly string[] | null;

export type Fact<Dead extends DeadLetterFact = DeadLetterFact> =
  | { readonly atMs: number; readonly attempt: AttemptRecord }
  | { readonly atMs: number; readonly deferral: DeferralRecord }
  | { readonly atMs: number; readonly deadLetter: Dead };

/** The facts, oldest first. At one moment an attempt comes before its follow-ups. */
export function factsInOrder<Dead extends DeadLetterFact>({
  attempts,
  deferrals,
  deadLetters,
}: DeliveryFacts<Dead>): readonly Fact<Dead>[] {
  const all: Fact<Dead>[] = [];
  for (const attempt of attempts) all.push({ atMs: attempt.startedAtMs, attempt });
  for (const deferral of deferrals) all.push({ atMs: deferral.deferredAtMs, deferral });
  for (const deadLetter of deadLetters) all.push({ atMs: deadLetter.deadAtMs, deadLetter });
  return all.length < 2 ? all : all.sort(compareFacts);
}

/** 0 for equal facts alone. */
export function compareFacts(one: Fact, other: Fact): number {
  const sooner = one.atMs - other.atMs || rankOf(one) - rankOf(other) || numberOf(one) - numberOf(other);
  if (sooner !== 0) return sooner;
  const [text, others] = [JSON.stringify(one), JSON.stringify(other)];
  return text === others ? 0 : text < others ? -1 : 1;
}

/** The URLs of which a fact closes the open state. */
export function urlsOf(fact: Fact): OwedUrls {
  if ("attempt" in fact) return fact.attempt.urls.map(({ url }) => url);
  if ("deferral" in fact) return fact.deferral.urls;
  const { lastAttempt } = fact.deadLetter;
  return lastAttempt.length === 0 ? null : lastAttempt.map(({ url }) => url);
}

/** Whether the two may have a URL in common. */
export function sharesUrl(some: OwedUrls, others: OwedUrls): boolean {
  return some === null || others === null || some.some((url) => others.includes(url));
}

/** The answer of the URL that took the delivery; undefined where none did. */
export function takenBy({ outcome, urls }: Pick<AttemptRecord, "outcome" | "urls">) {
  return outcome === "delivered" ? urls.find(({ status }) => isDeliveredStatus(status)) : undefined;
}

export function isDeliveredStatus(status: number | null): boolean {
  return status !== null && classifyStatus(status) === "delivered";
}

function rankOf(fact: Fact): number {
  if ("attempt" in fact) return 0;
  return "deferral" in fact ? 1 : 2;
}

function numberOf(fact: Fact): number {
  return "attempt" in fact ? fact.attempt.attempt : 0;
}
