/**
 * The invariants at the end of a run: acknowledged = delivered + dead, in order where order is promised.
 *
 * OC0  Nothing is thrown, and no service fails, but for the faults of a scenario.
 * OC1  An event that was acknowledged has a delivery for each destination that was there throughout.
 * OC2  Every delivery in the log was taken by a receiver or is a dead letter; under `settle: each` that holds by URL.
 *      A call that its client repeated may be passed over where the delivery of the first stands before it.
 * OC3  First attempts of a key are in the order of its events, but of records republished before, and of deliveries
 *      that the process that attempted the later one had deferred as it arrived.
 * OC4  A dead letter has its reason.
 * OC5  Nothing waits for ever.
 */
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { AttemptSeen, DeadSeen, DeliveryWitness } from "./delivery-witness.ts";
import { originOf } from "./delivery-witness.ts";

/** An event that ingest acknowledged. */
export interface AcknowledgedEvent {
  readonly partition: number;
  readonly offset: number;
  readonly messageId: string;
  /** It bears the id of one before it. */
  readonly isDuplicate: boolean;
}

/** A destination as it was through the run. */
export interface DestinationHistory {
  readonly id: string;
  readonly settle: "any" | "each";
  /** It was there, switched on, from the start to the end. */
  readonly isSteady: boolean;
  /** Its URLs were never changed. */
  readonly hasSteadyUrls: boolean;
  readonly urls: readonly string[];
  readonly wasRemoved: boolean;
  readonly wasSwitchedOff: boolean;
}

export interface OutcomeCheck {
  readonly events: readonly AcknowledgedEvent[];
  readonly destinations: readonly DestinationHistory[];
  readonly deliveries: DeliveryWitness;
  /** Events of an id that was seen before may be dropped. */
  readonly dedupes: boolean;
  readonly onViolation: (what: string) => void;
}

export function checkOutcome(check: OutcomeCheck): void {
  checkRouted(check);
  checkEnds(check);
  checkOrder(check);
  checkDeadLetters(check);
}

/** OC1. */
function checkRouted({ events, destinations, deliveries, dedupes, onViolation }: OutcomeCheck): void {
  for (const { partition, offset, isDuplicate } of events) {
    if (dedupes && isDuplicate) continue;
    for (const { id, isSteady } of destinations) {
      if (!isSteady || deliveries.first.has(`${partition}/${offset}/${id}`)) continue;
      onViolation(`OC1 the event at ${partition}/${offset} was acknowledged and never routed to ${id}`);
    }
  }
}

/** OC2. */
function checkEnds({ destinations, deliveries, dedupes, onViolation }: OutcomeCheck): void {
  const byId = new Map(destinations.map((each) => [each.id, each]));
  for (const [origin, { delivery, record }] of deliveries.first) {
    const history = byId.get(delivery.destinationId);
    const isRight = history?.isSteady === false || (dedupes && deliveries.isLaterCopyOfMessage(record));
    if (isRight && deliveries.isPassedOver(record)) continue;
    const took = deliveries.taken.get(origin) ?? new Set();
    const dead = deliveries.deadOf(origin);
    if (took.size === 0 && dead.length === 0)
      onViolation(`OC2 ${origin} was neither delivered nor given up: it is lost`);
    if (history?.settle !== "each" || !history.hasSteadyUrls) continue;
    for (const url of history.urls) {
      if (took.has(url) || dead.some((each) => covers(each, url))) continue;
      onViolation(`OC2 ${origin} was neither delivered to ${url} nor given up there`);
    }
  }
}

function covers({ deadLetter }: DeadSeen, url: string): boolean {
  return deadLetter.lastAttempt.length === 0 || deadLetter.lastAttempt.some((each) => each.url === url);
}

/** OC3. */
function checkOrder({ deliveries, onViolation }: OutcomeCheck): void {
  const newest = new Map<string, AttemptSeen>();
  const attempted = new Set<string>();
  for (const attempt of deliveries.attempts) {
    const origin = originOf(attempt.delivery);
    if (attempted.has(origin)) continue;
    attempted.add(origin);
    if (attempt.isRetry || deliveries.wasRepublished(origin, attempt.startedMs)) continue;
    const lane = String(attempt.record.key);
    const before = newest.get(lane);
    if (before !== undefined && isAfter(before.delivery, attempt.delivery)) {
      if (deliveries.gaveUpItsTurn(origin, before)) continue;
      onViolation(`OC3 ${origin} was first attempted after ${originOf(before.delivery)}, which came later`);
    }
    newest.set(lane, attempt);
  }
}

function isAfter(a: Delivery, b: Delivery): boolean {
  return a.originPartition === b.originPartition && a.originOffset > b.originOffset;
}

/** OC4. */
function checkDeadLetters({ destinations, deliveries, onViolation }: OutcomeCheck): void {
  const byId = new Map(destinations.map((each) => [each.id, each]));
  for (const { deadLetter } of deliveries.deadLetters) {
    const history = byId.get(deadLetter.destinationId);
    const origin = originOf(deadLetter);
    const where = `OC4 ${origin} was given up as ${deadLetter.reason}`;
    if (history === undefined) onViolation(`${where}, of a destination that never was`);
    else if (deadLetter.reason === "destination_removed" && !history.wasRemoved && history.hasSteadyUrls)
      onViolation(`${where}, and it was never removed`);
    else if (deadLetter.reason === "destination_disabled" && !history.wasSwitchedOff)
      onViolation(`${where}, and it was never switched off`);
    else if (deadLetter.reason === "window_expired" && deadLetter.attempts === 0)
      onViolation(`${where} without an attempt (I3)`);
  }
}
