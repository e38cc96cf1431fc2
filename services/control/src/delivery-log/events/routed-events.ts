/**
 * Events that the router turned into deliveries, grouped from the entries of projections by their source and their
 * place. An entry without a place (a dead letter, an entry of an earlier release) goes to the source's newest event.
 */
import type { AttemptRecord, DeferralRecord, LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetterFact, DeliveryFacts } from "@posthaste/core/verdict/delivery-facts";
import type { UnfinishedDelivery } from "@posthaste/pipeline/pipeline-findings";
import { deadLetterFromEntry, type ListedDeadLetter } from "@posthaste/read-model/dead-letter-entry";
import type { KnownDelivery } from "@posthaste/read-model/delivery-entry";
import type { DeliveryOfMessage } from "@posthaste/read-model/delivery-table";
import { userDigestsOf } from "@posthaste/read-model/entry-texts";
import type { ProjectionEntry } from "@posthaste/read-model/projection-entry";

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
  /** The event's fields from one of its log entries; null where the projections hold only dead letters of it. */
  readonly said: LoggedDelivery | null;
  readonly deadLetters: readonly ListedDeadLetter[];
  /** Dead letters that were purged since. */
  readonly purged: readonly ListedDeadLetter[];
  /** Deliveries whose facts were not looked at, keyed by destination id: the newest of each. */
  readonly unlisted: ReadonlyMap<string, DeliveryOfMessage>;
  /** The digests of the users that its dead letters are about (`userDigest`). */
  readonly users: readonly string[];
}

interface GroupedDelivery {
  readonly attempts: AttemptRecord[];
  readonly deferrals: DeferralRecord[];
  readonly deadLetters: DeadLetterFact[];
  readonly unfinished: UnfinishedDelivery[];
}

interface Group {
  readonly sourceId: string;
  readonly origin: RoutedEvent["origin"];
  said: LoggedDelivery | null;
  readonly deliveries: Map<string, GroupedDelivery>;
  readonly deadLetters: ListedDeadLetter[];
  readonly purged: ListedDeadLetter[];
  readonly unlisted: Map<string, DeliveryOfMessage>;
  readonly users: string[];
}

export class RoutedEvents {
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

  /** Takes the event's fields from an attempt whose delivery is not looked at. */
  addSaid(said: LoggedDelivery): void {
    this.#groupOf(said);
  }

  /** Takes the facts of a delivery where none of its destination were added; its dead letters are added apart. */
  addKnown({ sourceId, origin, destinationId, facts: { attempts, deferrals } }: KnownDelivery): void {
    const [said] = [...attempts, ...deferrals];
    if (said === undefined) return;
    const group = origin === null ? this.#groupOf(said) : this.#open(sourceId, origin);
    group.said ??= said;
    if (group.deliveries.has(destinationId)) return;
    this.#deliveryOf(group, destinationId).attempts.push(...attempts);
    this.#deliveryOf(group, destinationId).deferrals.push(...deferrals);
  }

  addUnlisted(delivery: DeliveryOfMessage): void {
    const { sourceId, origin, destinationId, atMs } = delivery;
    const group = (origin === null ? this.#anyOf(sourceId) : undefined) ?? this.#open(sourceId, origin);
    const held = group.unlisted.get(destinationId);
    if (held === undefined || held.atMs < atMs) group.unlisted.set(destinationId, delivery);
  }

  /**
   * Called after all attempts and deferrals were added. A purged dead letter is no longer listed and cannot be sent
   * again.
   */
  addDeadLetter(entry: ProjectionEntry, state: "kept" | "purged"): void {
    const deadLetter = deadLetterFromEntry(entry);
    const group = this.#anyOf(deadLetter.sourceId) ?? this.#open(deadLetter.sourceId, null);
    if (state === "kept") group.deadLetters.push(deadLetter);
    else group.purged.push(deadLetter);
    group.users.push(...userDigestsOf(entry));
    const { deadAtMs, reason, reasonClass, attempts, replayId, lastAttempt } = deadLetter;
    const place = state === "kept" ? `${entry.partition}:${entry.offset}` : null;
    const fact = { deadAtMs, reason, reasonClass, attempts, replayId, lastAttempt, place };
    this.#deliveryOf(group, deadLetter.destinationId).deadLetters.push(fact);
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
    const group: Group = {
      sourceId,
      origin,
      said: null,
      deliveries: new Map(),
      deadLetters: [],
      purged: [],
      unlisted: new Map(),
      users: [],
    };
    this.#groups.set(key, group);
    return group;
  }

  #deliveryOf({ deliveries }: Group, destinationId: string): GroupedDelivery {
    const held = deliveries.get(destinationId);
    if (held !== undefined) return held;
    const facts = { attempts: [], deferrals: [], deadLetters: [], unfinished: [] };
    deliveries.set(destinationId, facts);
    return facts;
  }
}

/** Names the event at a place of `posthaste.events`. */
export function placeName(sourceId: string, partition: number, offset: number): string {
  return `${sourceId} ${partition}:${offset}`;
}
