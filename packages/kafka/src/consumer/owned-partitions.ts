/**
 * The partitions that this member of the group owns, from one JOIN to the next (C4, C5).
 *
 * Owns: the intakes of the owned partitions, and the epoch. An owned partition is
 * - *sought* from the JOIN that gained it: it is paused, and its place is not known;
 * - *fetched from* once its place was found, until a JOIN gives it up or the consumer ends.
 * CN1  The epoch rises at every JOIN and at the end. A search for places that began in an older epoch has no effect
 *      (C4).
 * CN2  A gained partition is paused at once. Fetching begins when its place was found, at that place and at no other
 *      (C5).
 */
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "../connection/connect.ts";
import type { TopicIds } from "../connection/topic-id.ts";
import type { PartitionFetch } from "./fetch-position.ts";
import type { GroupSession } from "./group-session.ts";
import { PartitionIntake } from "./partition-intake.ts";
import { type FoundPlace, findPlaces } from "./place-search.ts";
import { type Assigned, compareAssignment, isSamePartition, type TopicPartition } from "./rebalance.ts";
import type { StallWatch } from "./stall-watch.ts";
import { WorkingSetShare } from "./window-fill.ts";
import type { WindowedConsumerOptions } from "./windowed-consumer.ts";

export interface OwnedPartitionsOptions<T, F> {
  readonly connection: KafkaConnection;
  readonly consumer: WindowedConsumerOptions<T, F>;
  readonly session: Pick<GroupSession, "committed" | "isContinuous">;
  readonly topicIds: () => TopicIds;
  readonly fetchOf: (place: TopicPartition) => PartitionFetch;
  readonly stalls: StallWatch;
  readonly clock: Clock;
  /** No task of a frozen partition runs any longer. */
  readonly onIdle: () => void;
  /** A partition has something new to commit. */
  readonly onChanged: () => void;
  /** This member no longer owns these partitions. */
  readonly onGivenUp: (lost: readonly TopicPartition[]) => void;
  /** The consumer cannot go on: its handler has a bug, or a place is outside the log. */
  readonly onFailure: (reason: Error) => void;
}

export class OwnedPartitions<T, F> {
  readonly #options: OwnedPartitionsOptions<T, F>;
  readonly #share: WorkingSetShare;
  #intakes: readonly PartitionIntake<T, F>[] = [];
  #epoch = 0;
  #isClosed = false;

  constructor(options: OwnedPartitionsOptions<T, F>) {
    this.#options = options;
    this.#share = new WorkingSetShare(options.consumer.workingSet);
  }

  get all(): readonly PartitionIntake<T, F>[] {
    return this.#intakes;
  }

  find(place: TopicPartition): PartitionIntake<T, F> | undefined {
    return this.#intakes.find((each) => isSamePartition(each, place));
  }

  /**
   * Takes over the assignment of a JOIN. A consumer that stops gains no partition, and the partitions that it keeps
   * stay frozen.
   */
  join(assigned: Assigned, { isStopping }: { readonly isStopping: boolean }): void {
    const { consumer, connection, session } = this.#options;
    this.#epoch += 1;
    const epoch = this.#epoch;
    const found = this.#intakes.filter(({ isLocating }) => !isLocating);
    const sought = this.#intakes.filter(({ isLocating }) => isLocating);
    const { kept, lost, gained } = compareAssignment(found, assigned, session.isContinuous);
    const created = isStopping ? [] : gained.map((place) => this.#createIntake(place));
    const counts = { kept: kept.length, lost: lost.length, gained: gained.length };
    connection.log.info({ event: "group_joined", group: consumer.groupId, ...counts });
    this.#intakes = [...kept, ...created];
    this.#share.divide(this.#intakes.length);
    this.#giveUp(lost);
    this.#expectProgress(gained, sought);
    for (const place of gained) this.#options.fetchOf(place).pause();
    // While the consumer stops, kept partitions stay frozen, as the drain of `stop` left them.
    if (!isStopping) for (const intake of kept) intake.keep();
    if (!isStopping) consumer.onKept?.(kept.map(({ window }) => window));
    if (created.length > 0) this.#search(created, epoch);
  }

  /**
   * Backpressure no longer holds the intakes back. Another partition comes first each time, so that none is starved.
   */
  release(): void {
    const [first, ...others] = this.#intakes;
    if (first !== undefined) this.#intakes = [...others, first];
    for (const intake of this.#intakes) intake.release();
  }

  /** The consumer has ended: gives up every partition. */
  close(): void {
    this.#isClosed = true;
    this.#epoch += 1;
    const lost = this.#intakes;
    this.#intakes = [];
    this.#giveUp(lost);
  }

  /**
   * Starts the stall watch for gained partitions. A partition that stays sought through several JOINs keeps its age; a
   * sought partition that another member owns now is forgotten.
   */
  #expectProgress(gained: readonly TopicPartition[], sought: readonly TopicPartition[]): void {
    const { stalls } = this.#options;
    for (const place of sought) if (!gained.some((each) => isSamePartition(each, place))) stalls.forget(place);
    for (const place of gained) stalls.expectPartition(place);
  }

  #giveUp(lost: readonly PartitionIntake<T, F>[]): void {
    if (lost.length === 0) return;
    const { stalls, consumer, onGivenUp } = this.#options;
    for (const intake of lost) {
      intake.revoke();
      stalls.forget(intake);
    }
    onGivenUp(lost);
    consumer.onRevoked?.(lost.map(({ window }) => window));
  }

  #createIntake(place: TopicPartition): PartitionIntake<T, F> {
    const { consumer, connection, topicIds, clock, onIdle, onChanged, onFailure } = this.#options;
    const onTruncated = () => connection.metrics?.commitMetadataTruncated.inc({ group: consumer.groupId });
    const fetch = this.#options.fetchOf(place);
    return new PartitionIntake(
      { ...place, topicId: topicIds().get(place.topic) ?? undefined },
      consumer,
      {
        pause: () => this.#unlessClosed(() => fetch.pause()),
        resume: () => this.#unlessClosed(() => fetch.resume()),
        seek: (offset) => this.#unlessClosed(() => fetch.seek(offset)),
      },
      { clock, onFailure, onIdle, onChanged, onTruncated, share: this.#share },
    );
  }

  /** Passes a command to kafkajs, which takes none for a consumer that has left its group. */
  #unlessClosed(order: () => void): void {
    if (!this.#isClosed) order();
  }

  /**
   * Searches the places of gained partitions, each of which begins when its own place was found (CN1). `epoch` is the
   * epoch of the JOIN. The present epoch may be higher already: when `join` resumed the kept partitions, a failure
   * there may have ended the consumer.
   */
  #search(gained: readonly PartitionIntake<T, F>[], epoch: number): void {
    const { connection, session, consumer, topicIds, onFailure } = this.#options;
    void findPlaces(gained, {
      connection,
      session,
      groupId: consumer.groupId,
      terms: { ...consumer, topicIds: topicIds() },
      isCurrent: () => epoch === this.#epoch,
      onAnswer: (found, leaderless) => this.#begin(found, leaderless),
      onFailure,
    });
  }

  #begin(found: readonly FoundPlace<PartitionIntake<T, F>>[], leaderless: readonly TopicPartition[]): void {
    const { stalls, consumer } = this.#options;
    for (const { partition, place } of found) {
      stalls.sawPartition(partition);
      partition.begin(place.offset, place.metadata);
    }
    // A partition without a leader does not make the consumer stall: the brokers answered.
    for (const partition of leaderless) stalls.sawPartition(partition);
    if (found.length > 0) consumer.onAssigned?.(found.map(({ partition }) => partition.window));
  }
}
