/**
 * The facts about the events under one message id, from the read model's projections and from a search of unfinished
 * records. Each event is one group: a call that was rejected, an event that led to no delivery, an event with its
 * deliveries, or an event that the router has not finished.
 */

import { type Freshness, mergedFreshness } from "@posthaste/core/freshness";
import { shortName } from "@posthaste/core/routing/short-name";
import type { StoppedUser } from "@posthaste/deletions/stopping-deletions";
import type { UnfinishedEvent } from "@posthaste/pipeline/pipeline-findings";
import type { PipelineAnswer } from "@posthaste/pipeline/pipeline-search";
import { type ListedRefusal, refusedRequestFromEntry } from "@posthaste/read-model/activity-entry";
import { attemptFromEntry, deferralFromEntry } from "@posthaste/read-model/attempt-entry";
import { deadLetterFromEntry } from "@posthaste/read-model/dead-letter-entry";
import { deliveryFromEntry } from "@posthaste/read-model/delivery-entry";
import { userDigestsOf } from "@posthaste/read-model/entry-texts";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { type ListedRejectedCall, rejectedCallFromEntry } from "@posthaste/read-model/rejected-call-entry";
import { type ListedUnrouted, unroutedFromEntry } from "@posthaste/read-model/unrouted-entry";
import type { VisibleDeadLetters } from "../deliveries/visible-dead-letters.ts";
import type { ListedDeliveries } from "./listed-destinations.ts";
import { placeName, type RoutedEvent, RoutedEvents } from "./routed-events.ts";

/** The most entries of each projection that are looked at for one message id, the newest ones. */
const MAX_ENTRIES = 500;
/** The most deliveries of listed destinations whose states stand in for attempts that were not looked at. */
const MAX_DELIVERIES = 1000;
/** The most attempts that are looked at for an event's fields, where none of its deliveries is listed. */
const MAX_SAID = 20;

export interface EventFacts {
  readonly rejected: readonly ListedRejectedCall[];
  /** Requests that were refused as a whole and named the message id, as far as samples of them are kept. */
  readonly refused: readonly ListedRefusal[];
  readonly unrouted: readonly ListedUnrouted[];
  readonly routed: readonly RoutedEvent[];
  /** Unfinished events that are not among the others. */
  readonly unfinished: readonly UnfinishedEvent[];
  /** The users of dead letters that are not shown, since a deletion request stopped their user's events. */
  readonly suppressedDeadLetters: readonly Pick<StoppedUser, "sourceId" | "digests">[];
  /**
   * True where a projection holds more than `MAX_ENTRIES` entries of the listed kinds: a timeline has the newest alone.
   */
  readonly isCut: boolean;
  readonly fresh: Freshness;
}

/** The findings of a search that no projection holds yet. */
export type Unfinished = Pick<PipelineAnswer, "events" | "deliveries">;

export interface AskedFacts {
  readonly listed: ListedDeliveries;
  readonly unfinished?: Unfinished | undefined;
}

const NOTHING: Unfinished = { events: [], deliveries: [] };

/** Rejects with a Problem while the read model cannot be asked. */
export async function findEventFacts(
  messageId: string,
  { readModel, deadLetters }: { readonly readModel: ReadModel; readonly deadLetters: VisibleDeadLetters },
  { listed, unfinished: { events, deliveries } = NOTHING }: AskedFacts,
): Promise<EventFacts> {
  const projections = ["attempts", "deliveries", "unrouted", "rejected_calls", "refused_requests"] as const;
  const fresh = projections
    .map((projection) => readModel.freshness(projection))
    .reduce(mergedFreshness, deadLetters.freshness);
  // One entry more than is looked at tells whether there are more.
  const query = { messageId, limit: MAX_ENTRIES + 1 };
  const ofListed = { ...query, destinationIds: listed.ids ?? undefined };
  const byShortName = { ...query, messageId: shortName(messageId) };
  const [attempts, deferrals, dead, unrouted, rejected, refused] = await Promise.all([
    readModel.newest("attempts", ofListed),
    readModel.newest("deferrals", ofListed),
    deadLetters.ofMessage(ofListed),
    readModel.newest("unrouted", query),
    readModel.newest("rejected_calls", byShortName),
    readModel.newest("refused_requests", byShortName),
  ]);
  const deadLetterCount = dead.entries.length + dead.purged.length + dead.suppressed.length;
  const counts = [attempts.length, deferrals.length, deadLetterCount, unrouted.length, rejected.length, refused.length];
  const isCut = counts.some((count) => count > MAX_ENTRIES);
  const groups = new RoutedEvents();
  for (const entry of attempts.slice(0, MAX_ENTRIES)) groups.addAttempt(attemptFromEntry(entry));
  for (const entry of deferrals.slice(0, MAX_ENTRIES)) groups.addDeferral(deferralFromEntry(entry));
  if (isCut) {
    const known = await readModel.newest("deliveries", { ...ofListed, limit: MAX_DELIVERIES });
    for (const entry of known) groups.addKnown(deliveryFromEntry(entry));
  }
  if (listed.unlisted.length > 0) {
    const said = await readModel.newest("attempts", { messageId, limit: MAX_SAID });
    for (const entry of said) groups.addSaid(attemptFromEntry(entry));
  }
  for (const entry of dead.entries) groups.addDeadLetter(entry, "kept");
  for (const entry of dead.purged) groups.addDeadLetter(entry, "purged");
  for (const delivery of deliveries) groups.addUnfinished(delivery);
  for (const delivery of listed.unlisted) groups.addUnlisted(delivery);
  const known = withoutRepeats(unrouted.slice(0, MAX_ENTRIES).map(unroutedFromEntry), groups.all());
  const places = new Set([...groups.all().map(placeOfRouted), ...known.map(placeOfUnrouted)]);
  return {
    rejected: rejected.slice(0, MAX_ENTRIES).map(rejectedCallFromEntry),
    refused: refused.slice(0, MAX_ENTRIES).map(refusedRequestFromEntry),
    unrouted: known,
    routed: groups.all(),
    unfinished: events.filter(({ sourceId, partition, offset }) => !places.has(placeName(sourceId, partition, offset))),
    suppressedDeadLetters: dead.suppressed.map((entry) => ({
      sourceId: deadLetterFromEntry(entry).sourceId,
      digests: userDigestsOf(entry),
    })),
    isCut,
    fresh,
  };
}

/**
 * Drops repeated entries: an event whose record the router read again, after a crash, has an entry of each reading. The
 * newest one counts, and none where the event became deliveries.
 */
function withoutRepeats(
  unrouted: readonly ListedUnrouted[],
  routed: readonly RoutedEvent[],
): readonly ListedUnrouted[] {
  const seen = new Set<string | null>(routed.map(placeOfRouted));
  return unrouted.filter((each) => {
    const name = placeOfUnrouted(each);
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

/** Null where the place is not known. */
function placeOfRouted({ sourceId, origin }: RoutedEvent): string | null {
  return origin === null ? null : placeName(sourceId, origin.partition, origin.offset);
}

function placeOfUnrouted({ sourceId, originPartition, originOffset }: ListedUnrouted): string {
  return placeName(sourceId, originPartition, originOffset);
}
