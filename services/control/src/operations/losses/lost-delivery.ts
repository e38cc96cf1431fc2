/**
 * Tells a delivery that waits from one whose record was deleted while it waited, by the losses that were accepted.
 *
 * The logs do not say where a waiting record stands in its retry topic. All retry topics have as many partitions as the
 * topic of deliveries, and a record keeps its partition on its way. A record of the lost partition that was written
 * before the first one that is left is gone, unless an attempt or a dead letter says more.
 */
import type { AcceptedLoss } from "@posthaste/contracts/accepted-loss";
import { delayMsFromRetryTopic, type TopicNames } from "@posthaste/contracts/topics";
import type { LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import type { DeliveryFacts } from "@posthaste/core/verdict/delivery-facts";
import type { DeliveryVerdict, OtherVerdict } from "@posthaste/core/verdict/verdict";

/** The grace for overdue deliveries, in ms: longer than delivery needs for them once it goes on. */
const GRACE_MS = 60_000;

export type LostVerdict = Extract<OtherVerdict, { readonly cause: "lost" }>;

/** Returns the verdict of a delivery that is lost; null where it is not known to be. */
export type LostOf = (verdict: DeliveryVerdict | null, facts: DeliveryFacts, nowMs: number) => LostVerdict | null;

export function createLostOf(names: TopicNames, accepted: () => readonly AcceptedLoss[]): LostOf {
  return (verdict, facts, nowMs) => {
    if (verdict?.cause !== "waiting_retry" && verdict?.cause !== "deferred") return null;
    const partition = newestOf(facts)?.recordPartition ?? null;
    const loss = accepted().find(
      (each) => each.partition === partition && mayHold(each, verdict, delayMsFromRetryTopic(names, each.topic), nowMs),
    );
    if (loss === undefined) return null;
    const { topic, from, to, atMs } = loss;
    return { cause: "lost", topic, partition: loss.partition, from, to, acceptedAtMs: atMs, tries: verdict.tries };
  };
}

type Waiting = Extract<DeliveryVerdict, { readonly cause: "waiting_retry" | "deferred" }>;

/** Whether the record of the waiting delivery was among those that were lost. */
function mayHold({ beforeMs, atMs }: AcceptedLoss, verdict: Waiting, delayMs: number | null, nowMs: number): boolean {
  if (delayMs === null) return false;
  if (verdict.cause === "waiting_retry") {
    return verdict.delayMs === delayMs && verdict.dueAtMs - delayMs <= beforeMs && verdict.dueAtMs <= nowMs;
  }
  // Deferrals after the first are not logged: only at the end of its window is it certain that no record is left.
  const { sinceMs, deadlineMs } = verdict;
  return sinceMs <= beforeMs && deadlineMs !== null && nowMs - Math.max(deadlineMs, atMs) >= GRACE_MS;
}

function newestOf({ attempts, deferrals }: DeliveryFacts): LoggedDelivery | null {
  const facts = [
    ...attempts.map((logged) => ({ logged, atMs: logged.startedAtMs })),
    ...deferrals.map((logged) => ({ logged, atMs: logged.deferredAtMs })),
  ];
  return facts.sort((a, b) => b.atMs - a.atMs)[0]?.logged ?? null;
}
