/** The verdict on each event under one message id: its cause, and that of each of its destinations. */
import type { Destination } from "@posthaste/core/config/destination";
import type { UnroutedCause } from "@posthaste/core/routing/routing";
import { judgeDelivery } from "@posthaste/core/verdict/delivery-verdict";
import { type DeliveryVerdict, VERDICT_CAUSES, type VerdictCause, worstCause } from "@posthaste/core/verdict/verdict";
import type { ListedRejectedCall } from "../read-model/rejected-call-entry.ts";
import type { ListedUnrouted } from "../read-model/unrouted-entry.ts";
import type { EventFacts, RoutedEvent } from "./event-facts.ts";

/** What became of an event at one destination; null where nothing is known of it. */
export interface JudgedDelivery {
  readonly destinationId: string;
  readonly verdict: DeliveryVerdict | null;
}

export type JudgedEvent = { readonly cause: VerdictCause } & (
  | { readonly rejected: ListedRejectedCall }
  | { readonly unrouted: ListedUnrouted }
  /** The deliveries with the worst cause first. */
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

export interface JudgeTerms {
  /** As they are configured now; those that are on and of which nothing is known are named too. */
  readonly destinations: Iterable<Destination>;
  readonly nowMs: number;
  readonly isSuppressed: (sourceId: string, userKey: string | null) => boolean;
}

export function judgeEvents(facts: EventFacts, { destinations, ...terms }: JudgeTerms): readonly JudgedEvent[] {
  const configured = [...destinations];
  return [
    ...facts.rejected.map((rejected) => ({ cause: causeOfRejected(rejected), rejected })),
    ...facts.unrouted.map((unrouted) => ({ cause: CAUSE_OF_UNROUTED[unrouted.cause], unrouted })),
    ...facts.routed.map((routed) => judgeRouted(routed, configured, terms)),
  ];
}

/** The worst cause of all that happened under the message id. */
export function causeOfAll(events: readonly JudgedEvent[], { suppressedLetters }: EventFacts): VerdictCause {
  if (events.length === 0) return suppressedLetters > 0 ? "suppressed" : "unknown";
  return worstCause(events.map(({ cause }) => cause));
}

export function sourceIdOf(event: JudgedEvent): string {
  if ("rejected" in event) return event.rejected.sourceId;
  return "unrouted" in event ? event.unrouted.sourceId : event.routed.sourceId;
}

function judgeRouted(
  routed: RoutedEvent,
  configured: readonly Destination[],
  { nowMs, isSuppressed }: Omit<JudgeTerms, "destinations">,
): JudgedEvent {
  const { said, sourceId } = routed;
  // Their letters are not shown and are not sent again; what the attempt log says of a letter must not tell of it.
  const hidesLetters = isSuppressed(sourceId, said?.userKey ?? null);
  const known = [...routed.deliveries].map(([destinationId, facts]): JudgedDelivery => {
    const verdict = judgeDelivery(facts, nowMs);
    if (!hidesLetters || verdict?.cause !== "dead_letter") return { destinationId, verdict };
    return { destinationId, verdict: { cause: "suppressed", atMs: verdict.atMs, tries: verdict.tries } };
  });
  const receivedAtMs = routed.said?.receivedAtMs ?? routed.letters[0]?.receivedAtMs ?? null;
  const others = configured.filter(
    ({ id, enabled, sourceIds, updatedAtMs }) =>
      enabled &&
      sourceIds.includes(routed.sourceId) &&
      !routed.deliveries.has(id) &&
      // One that was changed since may not have been of the source, or on, when the event came.
      (receivedAtMs === null || updatedAtMs <= receivedAtMs),
  );
  const unknown = others.map(({ id }): JudgedDelivery => ({ destinationId: id, verdict: null }));
  const deliveries = [...known, ...unknown];
  deliveries.sort((a, b) => VERDICT_CAUSES.indexOf(causeOf(a)) - VERDICT_CAUSES.indexOf(causeOf(b)));
  return { cause: worstCause(deliveries.map(causeOf)), routed, deliveries };
}

/** Of a delivery that nothing is known of: `unknown`. */
export function causeOf({ verdict }: JudgedDelivery): VerdictCause {
  return verdict?.cause ?? "unknown";
}

function causeOfRejected({ single }: ListedRejectedCall): VerdictCause {
  return single === false ? "rejected_in_batch" : "refused";
}
