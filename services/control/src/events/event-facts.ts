/**
 * What is known of the events under one message id, from the read model's journals and what a search found that is not
 * finished, one group for each event: a call that was not accepted, an event that became no delivery, an event with its
 * deliveries, or one that the router has not come to.
 */
import type { AttemptRecord, DeferralRecord, LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import { shortName } from "@posthaste/core/routing/short-name";
import type { DeliveryFacts, LetterFact } from "@posthaste/core/verdict/delivery-facts";
import type { VisibleLetters } from "../deliveries/visible-letters.ts";
import { type Freshness, freshnessOfBoth } from "../http/freshness.ts";
import type { UnfinishedDelivery, UnfinishedEvent } from "../pipeline/pipeline-findings.ts";
import type { PipelineAnswer } from "../pipeline/pipeline-search.ts";
import { attemptFromEntry, deferralFromEntry } from "../read-model/attempt-entry.ts";
import { deadLetterFromEntry, type ListedDeadLetter } from "../read-model/dead-letter-entry.ts";
import type { JournalEntry } from "../read-model/journal.ts";
import type { ReadModel } from "../read-model/read-model.ts";
import { type ListedRejectedCall, rejectedCallFromEntry } from "../read-model/rejected-call-entry.ts";
import { type ListedUnrouted, unroutedFromEntry } from "../read-model/unrouted-entry.ts";

/** Entries of each journal that are looked at for one message id. */
const MAX_ENTRIES = 500;

/** All that is known of an event for one destination. */
export interface EventDelivery extends DeliveryFacts {
  readonly unfinished: readonly UnfinishedDelivery[];
}

/** An event that became deliveries. */
export interface RoutedEvent {
  readonly sourceId: string;
  /** Its place in `posthaste.events`; null where that is not known. */
  readonly origin: { readonly partition: number; readonly offset: number } | null;
  /** By destination id. */
  readonly deliveries: ReadonlyMap<string, EventDelivery>;
  /** What an entry of it says of it; null where only dead letters are held. */
  readonly said: LoggedDelivery | null;
  readonly letters: readonly ListedDeadLetter[];
}

export interface EventFacts {
  readonly rejected: readonly ListedRejectedCall[];
  readonly unrouted: readonly ListedUnrouted[];
  readonly routed: readonly RoutedEvent[];
  /** Those that are not among the others. */
  readonly unfinished: readonly UnfinishedEvent[];
  /** Dead letters that are not shown, since a deletion request stopped their user's events. */
  readonly suppressedLetters: number;
  readonly fresh: Freshness;
}

/** What a search found that nothing is written down of. */
export type Unfinished = Pick<PipelineAnswer, "events" | "deliveries">;

const NOTHING: Unfinished = { events: [], deliveries: [] };

/** Throws a Problem while the read model cannot be asked. */
export async function findEventFacts(
  messageId: string,
  { readModel, letters }: { readonly readModel: ReadModel; readonly letters: VisibleLetters },
  { events, deliveries }: Unfinished = NOTHING,
): Promise<EventFacts> {
  const journals = ["attempts", "unrouted", "rejected_calls"] as const;
  const fresh = journals.map((journal) => readModel.freshness(journal)).reduce(freshnessOfBoth, letters.freshness);
  const query = { messageId, limit: MAX_ENTRIES };
  const [attempts, deferrals, dead, unrouted, rejected] = await Promise.all([
    readModel.newest("attempts", query),
    readModel.newest("deferrals", query),
    letters.ofMessage(messageId, MAX_ENTRIES),
    readModel.newest("unrouted", query),
    readModel.newest("rejected_calls", { ...query, messageId: shortName(messageId) }),
  ]);
  const groups = new RoutedEvents();
  for (const entry of attempts) groups.addAttempt(attemptFromEntry(entry));
  for (const entry of deferrals) groups.addDeferral(deferralFromEntry(entry));
  for (const entry of dead.entries) groups.addLetter(entry);
  for (const delivery of deliveries) groups.addUnfinished(delivery);
  const known = withoutRepeats(unrouted.map(unroutedFromEntry), groups.all());
  const places = new Set([...groups.all().map(placeOfRouted), ...known.map(placeOfUnrouted)]);
  return {
    rejected: rejected.map(rejectedCallFromEntry),
    unrouted: known,
    routed: groups.all(),
    unfinished: events.filter(({ sourceId, partition, offset }) => !places.has(placeName(sourceId, partition, offset))),
    suppressedLetters: dead.leftOut.suppressed,
    fresh,
  };
}

/**
 * An event whose record the router read again, after a crash, has an entry of each reading: the newest one counts, and
 * none where it became deliveries.
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
}

/**
 * Attempts, deferrals and dead letters by the event that they are of: its source and its place. What does not say a
 * place (a dead letter, an entry of an earlier release) is of the source's newest event under the message id.
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

  /** After all attempts and deferrals. */
  addLetter(entry: JournalEntry): void {
    const letter = deadLetterFromEntry(entry);
    const group = this.#anyOf(letter.sourceId) ?? this.#open(letter.sourceId, null);
    group.letters.push(letter);
    const { deadAtMs, reason, reasonClass, attempts, replayId, lastAttempt } = letter;
    const place = `${entry.partition}:${entry.offset}`;
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
    const group: Group = { sourceId, origin, said: null, deliveries: new Map(), letters: [] };
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
