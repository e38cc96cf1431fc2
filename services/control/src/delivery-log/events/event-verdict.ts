/** The verdict on each event under one message id: its cause, and the cause of each of its destinations. */
import type { Destination } from "@posthaste/core/config/destination";
import type { UnroutedCause } from "@posthaste/core/routing/routing";
import { judgeDelivery } from "@posthaste/core/verdict/delivery-verdict";
import {
  type DeliveryVerdict,
  type OtherVerdict,
  VERDICT_CAUSES,
  type VerdictCause,
  worstCause,
} from "@posthaste/core/verdict/verdict";
import type { StoppedBy } from "@posthaste/deletions/stopping-deletions";
import type { UnfinishedEvent } from "@posthaste/pipeline/pipeline-findings";
import type { ListedRefusal } from "@posthaste/read-model/activity-entry";
import type { ListedRejectedCall } from "@posthaste/read-model/rejected-call-entry";
import type { ListedUnrouted } from "@posthaste/read-model/unrouted-entry";
import type { LostOf } from "../../operations/losses/lost-delivery.ts";
import type { DestinationHistory } from "./destination-history.ts";
import type { EventFacts } from "./event-facts.ts";
import { causeOfState } from "./listed-destinations.ts";
import type { EventDelivery, RoutedEvent } from "./routed-events.ts";

/** The verdict on an event at one destination; null where no fact about it is known. */
export interface JudgedDelivery {
  readonly destinationId: string;
  readonly verdict: DeliveryVerdict | OtherVerdict | null;
}

export type JudgedEvent = {
  readonly cause: VerdictCause;
  /** The deletion request that stopped it, or its deliveries; absent where nobody looked for one. */
  readonly stoppedBy?: StoppedBy;
} & (
  | { readonly rejected: ListedRejectedCall }
  | {
      readonly unrouted: ListedUnrouted;
      /** The destinations that were off, where that is the cause. */
      readonly deliveries: readonly JudgedDelivery[];
      /** For `no_destination`: a destination that was connected right after the event. */
      readonly madeAfter: { readonly destinationId: string; readonly atMs: number } | null;
      /** Of `duplicate_of`: when the first was received, ms since the epoch; null where that is not known. */
      readonly firstAtMs: number | null;
    }
  | { readonly unfinished: UnfinishedEvent }
  | { readonly refused: ListedRefusal }
  /** The deliveries with the worst cause first; those that were not made, since a destination was off, last. */
  | { readonly routed: RoutedEvent; readonly deliveries: readonly JudgedDelivery[] }
);

const CAUSE_OF_UNROUTED: Readonly<Record<UnroutedCause | "other", VerdictCause>> = {
  no_destination: "no_destination",
  destination_off: "destination_off",
  integrations: "integration_off",
  duplicate: "duplicate_of",
  suppressed: "suppressed",
  other: "unknown",
};

/**
 * How long after an event, in ms, a new destination counts as made right after it: its maker may have sent the event
 * too early.
 */
const RIGHT_AFTER_MS = 5000;

export interface JudgeTerms {
  /** The destinations as they are configured now. */
  readonly destinations: Iterable<Destination>;
  /** The ids of the destinations without a delivery that are judged too. */
  readonly rest: Pick<ReadonlySet<string>, "has">;
  readonly history: Pick<DestinationHistory, "at">;
  readonly nowMs: number;
  readonly isSuppressed: (sourceId: string, userKey: string | null) => boolean;
  readonly lostOf: LostOf;
}

export function judgeEvents(facts: EventFacts, { destinations, ...terms }: JudgeTerms): readonly JudgedEvent[] {
  const configured = [...destinations];
  return [
    ...refusedForGood(facts).map((refused) => ({ cause: "refused" as const, refused })),
    ...facts.rejected.map((rejected) => ({ cause: causeOfRejected(rejected), rejected })),
    ...facts.unrouted.map((unrouted) => judgeUnrouted(unrouted, configured, { ...terms, facts })),
    ...facts.routed.map((routed) => judgeRouted(routed, configured, terms)),
    ...facts.unfinished.map((unfinished) => ({ cause: "in_pipeline" as const, unfinished })),
  ];
}

/** The worst cause of all that happened under the message id. */
export function causeOfAll(events: readonly JudgedEvent[], { suppressedDeadLetters }: EventFacts): VerdictCause {
  if (events.length === 0) return suppressedDeadLetters.length > 0 ? "suppressed" : "unknown";
  return worstCause(events.map(({ cause }) => cause));
}

export function sourceIdOf(event: JudgedEvent): string {
  if ("rejected" in event) return event.rejected.sourceId;
  if ("refused" in event) return event.refused.sourceId;
  if ("unfinished" in event) return event.unfinished.sourceId;
  return "unrouted" in event ? event.unrouted.sourceId : event.routed.sourceId;
}

/**
 * The event's place in `posthaste.events`, as `partition:offset`; null where it is not known, or the event never came
 * there.
 */
export function originOf(event: JudgedEvent): string | null {
  if ("unfinished" in event) return `${event.unfinished.partition}:${event.unfinished.offset}`;
  if ("unrouted" in event) return `${event.unrouted.originPartition}:${event.unrouted.originOffset}`;
  if (!("routed" in event) || event.routed.origin === null) return null;
  return `${event.routed.origin.partition}:${event.routed.origin.offset}`;
}

/**
 * The refused requests that the source did not send again. A source that was told to retry sends its request again, and
 * so does a source with a corrected key.
 */
function refusedForGood({ refused, rejected, unrouted, routed, unfinished }: EventFacts): readonly ListedRefusal[] {
  const receivedAtMs = [
    ...rejected.map(({ rejectedAtMs }) => rejectedAtMs),
    ...unrouted.map((each) => each.receivedAtMs ?? each.unroutedAtMs),
    ...routed.map(receivedAtMsOf),
    ...unfinished.map((each) => each.receivedAtMs),
  ];
  return refused.filter(({ atMs }) => receivedAtMs.every((each) => each === null || each < atMs));
}

function receivedAtMsOf({ said, deadLetters, purged }: RoutedEvent): number | null {
  return said?.receivedAtMs ?? deadLetters[0]?.receivedAtMs ?? purged[0]?.receivedAtMs ?? null;
}

function judgeRouted(
  routed: RoutedEvent,
  configured: readonly Destination[],
  { nowMs, isSuppressed, history, rest, lostOf }: Omit<JudgeTerms, "destinations">,
): JudgedEvent {
  const { said, sourceId } = routed;
  // The dead letters of a suppressed user are hidden and cannot be sent again; the attempt log must not tell of them
  // either.
  const hidesDeadLetters = isSuppressed(sourceId, said?.userKey ?? null);
  const settles = new Map(configured.map(({ id, settle }) => [id, settle]));
  const known = [...routed.deliveries].map(([destinationId, facts]): JudgedDelivery => {
    const judged = judgeDelivery(facts, nowMs, settles.get(destinationId));
    const verdict = lostOf(judged, facts, nowMs) ?? judged ?? underWay(facts);
    if (!hidesDeadLetters || verdict?.cause !== "dead_letter") return { destinationId, verdict };
    return { destinationId, verdict: { cause: "suppressed", atMs: verdict.atMs, tries: verdict.tries } };
  });
  const others = configured
    .filter(({ id }) => rest.has(id) && !routed.deliveries.has(id) && !routed.unlisted.has(id))
    .flatMap((each) => judgeOther(each, routed, history));
  const deliveries = [...known, ...others].sort((a, b) => rankOf(causeOf(a)) - rankOf(causeOf(b)));
  const causes = [...deliveries.map(causeOf), ...unlistedCauses(routed, hidesDeadLetters)];
  causes.sort((a, b) => rankOf(a) - rankOf(b));
  return { cause: causes[0] ?? "unknown", routed, deliveries };
}

function unlistedCauses({ unlisted }: RoutedEvent, hidesDeadLetters: boolean): readonly VerdictCause[] {
  const causes = new Set([...unlisted.values()].map(({ state }) => causeOfState(state)));
  return [...causes].map((each) => (hidesDeadLetters && each === "dead_letter" ? "suppressed" : each));
}

/** A destination without a known fact; empty where it was not to have the event. */
function judgeOther(
  { id, enabled, sourceIds, updatedAtMs }: Destination,
  routed: RoutedEvent,
  history: Pick<DestinationHistory, "at">,
): readonly JudgedDelivery[] {
  const { said, sourceId } = routed;
  const receivedAtMs = receivedAtMsOf(routed);
  const known = typeof said?.configOffset === "number" ? history.at(id, said.configOffset) : null;
  // A destination that was changed since may not have had the source when the event came.
  const isAsItWas = receivedAtMs === null || updatedAtMs <= receivedAtMs;
  const then = known ?? (isAsItWas ? { state: enabled ? "on" : "off", sourceIds, sinceMs: null } : null);
  if (then === null || then.state === "removed" || !then.sourceIds.includes(sourceId)) return [];
  return [{ destinationId: id, verdict: then.state === "on" ? null : offSince(then.sinceMs) }];
}

function judgeUnrouted(
  unrouted: ListedUnrouted,
  configured: readonly Destination[],
  { history, facts, rest }: Pick<JudgeTerms, "history" | "rest"> & { readonly facts: EventFacts },
): JudgedEvent {
  const cause = CAUSE_OF_UNROUTED[unrouted.cause];
  const madeAfter = cause === "no_destination" ? madeRightAfter(unrouted, configured) : null;
  const firstAtMs = cause === "duplicate_of" ? firstReceivedAtMs(unrouted, facts) : null;
  if (cause !== "destination_off") return { cause, unrouted, deliveries: [], madeAfter, firstAtMs };
  const { configOffset, destinationIds } = unrouted;
  const deliveries = destinationIds
    .filter((id) => rest.has(id))
    .map((destinationId): JudgedDelivery => {
      const then = configOffset === null ? null : history.at(destinationId, configOffset);
      return { destinationId, verdict: offSince(then?.sinceMs ?? null) };
    });
  return { cause, unrouted, deliveries, madeAfter, firstAtMs };
}

/** Of the event that a repeat repeats, which came into the same partition before it. */
function firstReceivedAtMs(
  { sourceId, originPartition, firstOffset }: ListedUnrouted,
  facts: EventFacts,
): number | null {
  const events = [
    ...facts.routed.map((each) => ({ sourceId: each.sourceId, ...each.origin, receivedAtMs: receivedAtMsOf(each) })),
    ...facts.unrouted.map((each) => ({ ...each, partition: each.originPartition, offset: each.originOffset })),
    ...facts.unfinished,
  ];
  const first = events.find(
    (each) => each.sourceId === sourceId && each.partition === originPartition && each.offset === firstOffset,
  );
  return first?.receivedAtMs ?? null;
}

/** A destination that was made for the event's source right after the event. */
function madeRightAfter(
  { sourceId, receivedAtMs, unroutedAtMs }: ListedUnrouted,
  configured: readonly Destination[],
): { readonly destinationId: string; readonly atMs: number } | null {
  const fromMs = receivedAtMs ?? unroutedAtMs;
  const made = configured.find(
    ({ sourceIds, createdAtMs }) =>
      sourceIds.includes(sourceId) && createdAtMs >= fromMs && createdAtMs - fromMs <= RIGHT_AFTER_MS,
  );
  return made === undefined ? null : { destinationId: made.id, atMs: made.createdAtMs };
}

/**
 * The verdict on an unfinished delivery. Of several, as after a resend, it takes the newest, since nothing is known of
 * those before.
 */
function underWay({ unfinished }: EventDelivery): OtherVerdict | null {
  const newest = unfinished.at(-1);
  if (newest === undefined) return null;
  const { recordsBehind, behindMs } = newest;
  return { cause: "in_pipeline", recordsBehind, behindMs, tries: 0 };
}

function offSince(sinceMs: number | null): OtherVerdict {
  return { cause: "destination_off", sinceMs, by: null, tries: 0 };
}

/** A destination that was off counts only where the event led to no delivery. */
function rankOf(cause: VerdictCause): number {
  return cause === "destination_off" ? VERDICT_CAUSES.length : VERDICT_CAUSES.indexOf(cause);
}

/** The cause of a verdict; `unknown` where no fact is known. */
export function causeOf({ verdict }: JudgedDelivery): VerdictCause {
  return verdict?.cause ?? "unknown";
}

function causeOfRejected({ single }: ListedRejectedCall): VerdictCause {
  return single === false ? "rejected_in_batch" : "refused";
}
