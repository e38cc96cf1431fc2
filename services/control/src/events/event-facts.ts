/**
 * The facts about the events under one message id, from the read model's journals and from what a search found
 * unfinished. Each event is one group: a call that was rejected, an event that led to no delivery, an event with its
 * deliveries, or an event that the router has not finished.
 */
import type { AttemptRecord, DeferralRecord, LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import { shortName } from "@posthaste/core/routing/short-name";
import type { DeliveryFacts, LetterFact } from "@posthaste/core/verdict/delivery-facts";
import type { StoppedUser } from "../deletions/stopping-deletions.ts";
import type { VisibleLetters } from "../deliveries/visible-letters.ts";
import { type Freshness, freshnessOfBoth } from "../http/freshness.ts";
import type { UnfinishedDelivery, UnfinishedEvent } from "../pipeline/pipeline-findings.ts";
import type { PipelineAnswer } from "../pipeline/pipeline-search.ts";
import { type ListedRefusal, refusedRequestFromEntry } from "../read-model/activity-entry.ts";
import { attemptFromEntry, deferralFromEntry } from "../read-model/attempt-entry.ts";
import { deadLetterFromEntry, type ListedDeadLetter } from "../read-model/dead-letter-entry.ts";
import type { JournalEntry } from "../read-model/journal-entry.ts";
import type { ReadModel } from "../read-model/read-model.ts";
import { type ListedRejectedCall, rejectedCallFromEntry } from "../read-model/rejected-call-entry.ts";
import { type ListedUnrouted, unroutedFromEntry } from "../read-model/unrouted-entry.ts";
import { userDigestsOf } from "../suppressions/listed-users.ts";

/** The most entries of each journal that are looked at for one message id, the newest ones. */
export const MAX_ENTRIES = 500;

/** The facts about an event at one destination. */
export interface EventDelivery extends DeliveryFacts {
  readonly unfinished: readonly UnfinishedDelivery[];
}

/** An event that the router turned into deliveries. */
export interface RoutedEvent {
  readonly sourceId: string;
  /** The event's place in `posthaste.events`; null where it is not known. */
  readonly origin: { readonly partition: number; readonly offset: number } | null;
  /** Keyed by destination id. */
  readonly deliveries: ReadonlyMap<string, EventDelivery>;
  /** The event's fields from one of its log entries; null where the journals hold only dead letters of it. */
  readonly said: LoggedDelivery | null;
  readonly letters: readonly ListedDeadLetter[];
  /** Dead letters that were purged since. */
  readonly purged: readonly ListedDeadLetter[];
  /** The digests of the users that its dead letters are about (`userDigest`). */
  readonly users: readonly string[];
}

export interface EventFacts {
  readonly rejected: readonly ListedRejectedCall[];
  /** Requests that were refused as a whole and named the message id, as far as samples of them are kept. */
  readonly refused: readonly ListedRefusal[];
  readonly unrouted: readonly ListedUnrouted[];
  readonly routed: readonly RoutedEvent[];
  /** Unfinished events that are not among the others. */
  readonly unfinished: readonly UnfinishedEvent[];
  /** The users of dead letters that are not shown, since a deletion request stopped their user's events. */
  readonly suppressedLetters: readonly Pick<StoppedUser, "sourceId" | "digests">[];
  /**
   * True where a journal holds more than `MAX_ENTRIES` entries for the message id, so that only the newest were looked
   * at.
   */
  readonly isCut: boolean;
  readonly fresh: Freshness;
}

/** What a search found that no journal holds yet. */
export type Unfinished = Pick<PipelineAnswer, "events" | "deliveries">;

const NOTHING: Unfinished = { events: [], deliveries: [] };

/** Rejects with a Problem while the read model cannot be asked. */
export async function findEventFacts(
  messageId: string,
  { readModel, letters }: { readonly readModel: ReadModel; readonly letters: VisibleLetters },
  { events, deliveries }: Unfinished = NOTHING,
): Promise<EventFacts> {
  const journals = ["attempts", "unrouted", "rejected_calls", "refused_requests"] as const;
  const fresh = journals.map((journal) => readModel.freshness(journal)).reduce(freshnessOfBoth, letters.freshness);
  // One entry more than is looked at tells whether there are more.
  const query = { messageId, limit: MAX_ENTRIES + 1 };
  const byShortName = { ...query, messageId: shortName(messageId) };
  const [attempts, deferrals, dead, unrouted, rejected, refused] = await Promise.all([
    readModel.newest("attempts", query),
    readModel.newest("deferrals", query),
    letters.ofMessage(messageId, MAX_ENTRIES + 1),
    readModel.newest("unrouted", query),
    readModel.newest("rejected_calls", byShortName),
    readModel.newest("refused_requests", byShortName),
  ]);
  const letterCount = dead.entries.length + dead.purged.length + dead.suppressed.length;
  const counts = [attempts.length, deferrals.length, letterCount, unrouted.length, rejected.length, refused.length];
  const groups = new RoutedEvents();
  for (const entry of attempts.slice(0, MAX_ENTRIES)) groups.addAttempt(attemptFromEntry(entry));
  for (const entry of deferrals.slice(0, MAX_ENTRIES)) groups.addDeferral(deferralFromEntry(entry));
  for (const entry of dead.entries) groups.addLetter(entry, "kept");
  for (const entry of dead.purged) groups.addLetter(entry, "purged");
  for (const delivery of deliveries) groups.addUnfinished(delivery);
  const known = withoutRepeats(unrouted.slice(0, MAX_ENTRIES).map(unroutedFromEntry), groups.all());
  const places = new Set([...groups.all().map(placeOfRouted), ...known.map(placeOfUnrouted)]);
  return {
    rejected: rejected.slice(0, MAX_ENTRIES).map(rejectedCallFromEntry),
    refused: refused.slice(0, MAX_ENTRIES).map(refusedRequestFromEntry),
    unrouted: known,
    routed: groups.all(),
    unfinished: events.filter(({ sourceId, partition, offset }) => !places.has(placeName(sourceId, partition, offset))),
    suppressedLetters: dead.suppressed.map((entry) => ({
      sourceId: deadLetterFromEntry(entry).sourceId,
      digests: userDigestsOf(entry),
    })),
    isCut: counts.some((count) => count > MAX_ENTRIES),
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

function placeName(sourceId: string, partition: number, offset: number): string {
  return `${sourceId} ${partition}:${offset}`;
}

interface GroupedDelivery {
  readonly attempts: AttemptRecord[];
  readonly deferrals: DeferralRecord[];
  readonly letters: LetterFact[];
  readonly unfinished: UnfinishedDelivery[];
}

interface Group {
  readonly sourceId: string;
  readonly origin: RoutedEvent["origin"];
  said: LoggedDelivery | null;
  readonly deliveries: Map<string, GroupedDelivery>;
  readonly letters: ListedDeadLetter[];
  readonly purged: ListedDeadLetter[];
  readonly users: string[];
}

/**
 * Groups attempts, deferrals and dead letters by their event: its source and its place. An entry without a place (a
 * dead letter, an entry of an earlier release) goes to the source's newest event under the message id.
 */
class RoutedEvents {
  readonly #groups = new Map<string, Group>();

  addAttempt(attempt: AttemptRecord): void {
    this.#deliveryOf(this.#groupOf(attempt), attempt.destinationId).attempts.push(attempt);
  }

  addDeferral(deferral: DeferralRecord): void {
    this.#deliveryOf(this.#groupOf(deferral), deferral.destinationId).deferrals.push(deferral);
  }

  addUnfinished(delivery: UnfinishedDelivery): void {
    this.#deliveryOf(this.#groupOf(delivery), delivery.destinationId).unfinished.push(delivery);
  }

  /**
   * Called after all attempts and deferrals were added. A purged letter is no longer listed and cannot be sent again.
   */
  addLetter(entry: JournalEntry, state: "kept" | "purged"): void {
    const letter = deadLetterFromEntry(entry);
    const group = this.#anyOf(letter.sourceId) ?? this.#open(letter.sourceId, null);
    if (state === "kept") group.letters.push(letter);
    else group.purged.push(letter);
    group.users.push(...userDigestsOf(entry));
    const { deadAtMs, reason, reasonClass, attempts, replayId, lastAttempt } = letter;
    const place = state === "kept" ? `${entry.partition}:${entry.offset}` : null;
    const fact = { deadAtMs, reason, reasonClass, attempts, replayId, lastAttempt, place };
    this.#deliveryOf(group, letter.destinationId).letters.push(fact);
  }

  all(): readonly RoutedEvent[] {
    return [...this.#groups.values()];
  }

  #groupOf(said: LoggedDelivery): Group {
    const { sourceId, originPartition, originOffset } = said;
    const hasPlace = originPartition !== null && originOffset !== null;
    const origin = hasPlace ? { partition: originPartition, offset: originOffset } : null;
    const group = (origin === null ? this.#anyOf(sourceId) : undefined) ?? this.#open(sourceId, origin);
    group.said ??= said;
    return group;
  }

  #anyOf(sourceId: string): Group | undefined {
    for (const group of this.#groups.values()) if (group.sourceId === sourceId) return group;
    return undefined;
  }

  #open(sourceId: string, origin: RoutedEvent["origin"]): Group {
    const key = origin === null ? sourceId : placeName(sourceId, origin.partition, origin.offset);
    const held = this.#groups.get(key);
    if (held !== undefined) return held;
    const group: Group = { sourceId, origin, said: null, deliveries: new Map(), letters: [], purged: [], users: [] };
    this.#groups.set(key, group);
    return group;
  }

  #deliveryOf({ deliveries }: Group, destinationId: string): GroupedDelivery {
    const held = deliveries.get(destinationId);
    if (held !== undefined) return held;
    const facts = { attempts: [], deferrals: [], letters: [], unfinished: [] };
    deliveries.set(destinationId, facts);
    return facts;
  }
}
