/**
 * The intake of one owned partition: it leads the records that kafkajs fetches into the partition's window.
 *
 * Owns: the window, the fetch position, and the backlog. The backlog holds fetched records for which the window has no
 * space yet: at most half of the window's `fillTo`, and one fetch. The intake is
 * - *locating* until `begin`: the partition's place is not known, and it is not fetched;
 * - *taking* from then on;
 * - *revoked* for good from `revoke` on.
 * It is also *frozen* from `freeze` to `keep`.
 * PI1  The window takes each record once and in offset order. The intake refuses a batch that was fetched from above
 *      the position, and sends kafkajs back to the position. It takes a second such batch, since then kafkajs skipped
 *      offsets that hold no record (C9).
 * PI2  Fetching is paused exactly while there is a reason: the intake is locating or frozen, its backlog is larger than
 *      half of the window's `fillTo`, backpressure holds its backlog, or its head is not due. The intake pauses
 *      instead of waiting in kafkajs's batch handler, so that fetches of the broker's other partitions go on (C8).
 *      While the head waits for its schema, fetching goes on, and records behind the head wait for their schemas at the
 *      same time.
 * PI3  A frozen intake takes in nothing.
 * PI4  The window gets copies of the records (copied-record.ts).
 */
import type { Clock } from "@posthaste/core/time";
import type { KafkaMessage } from "kafkajs";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import { copiedRecord, unreadable } from "./copied-record.ts";
import { FetchPosition, type PartitionFetch } from "./fetch-position.ts";
import { FetchedBacklog, type FetchedBatch } from "./fetched-backlog.ts";
import type { CommitPoint } from "./group-session.ts";
import { OwnedPartitionWindow } from "./partition-window.ts";
import type { OwnedPartition, TopicPartition } from "./rebalance.ts";
import { RetryDelay } from "./retry-delay.ts";
import type { WorkingSetShare } from "./window-fill.ts";
import type { PartitionWindow, WindowedConsumerOptions } from "./windowed-consumer.ts";

/** The events that an intake reports to the consumer that owns it. */
export interface IntakeHooks {
  readonly clock: Clock;
  readonly share: WorkingSetShare;
  /** The consumer's handler has a bug: the consumer ends. */
  onFailure(reason: Error): void;
  /** Every task that was started is finished. Called only while the intake is frozen. */
  onIdle(): void;
  /** There is something new to commit. */
  onChanged(): void;
  /** A commit's metadata had no space for all that is finished. */
  readonly onTruncated?: (() => void) | undefined;
}

/**
 * Part of the window's `fillTo`. A backlog up to this size does not pause fetching, so that the next fetch comes
 * before the window runs empty.
 */
const FETCH_BELOW = 0.5;

export class PartitionIntake<T, F> implements TopicPartition {
  readonly topic: string;
  readonly partition: number;
  readonly #options: WindowedConsumerOptions<T, F>;
  readonly #position: FetchPosition;
  readonly #hooks: IntakeHooks;
  readonly #delay: RetryDelay | null;
  readonly #window: OwnedPartitionWindow<T, F>;
  #mode: "locating" | "taking" | "revoked" = "locating";
  readonly #backlog = new FetchedBacklog();
  #frozen = false;
  #prefetching = false;
  #pumping = false;
  #wasFull = false;

  constructor(
    place: OwnedPartition,
    options: WindowedConsumerOptions<T, F>,
    fetch: PartitionFetch,
    hooks: IntakeHooks,
  ) {
    this.topic = place.topic;
    this.partition = place.partition;
    this.#options = options;
    this.#position = new FetchPosition(fetch);
    this.#hooks = hooks;
    const delayMs = options.delayMsOf?.(place.topic);
    this.#delay = delayMs === undefined ? null : new RetryDelay(delayMs, hooks.clock, () => this.#pump());
    this.#window = new OwnedPartitionWindow(place, options, {
      onFinished: () => this.#onFinished(),
      onChanged: () => hooks.onChanged(),
      onFailure: (reason) => hooks.onFailure(reason),
      onTruncated: hooks.onTruncated,
      share: hooks.share,
    });
  }

  get window(): PartitionWindow {
    return this.#window;
  }

  get isLocating(): boolean {
    return this.#mode === "locating";
  }

  get isPaused(): boolean {
    return this.#position.isPaused;
  }

  /** Tasks that were started and are not finished. */
  get running(): number {
    return this.#window.running;
  }

  get committableOffset(): number {
    return this.#window.committableOffset;
  }

  get endOffset(): number {
    return this.#position.endOffset;
  }

  /** Append time of the lowest unfinished record that is known, in ms since the epoch; null when none is known. */
  get oldestUnfinishedMs(): number | null {
    const waiting = this.#backlog.head;
    return (
      this.#window.lowestTimestampMs ??
      this.#delay?.head?.appendedAtMs ??
      (waiting === undefined ? null : Number(waiting.timestamp))
    );
  }

  get hasNothingToFetch(): boolean {
    return this.#position.hasNothingToFetch;
  }

  /** The partition's place was found: takes records in from `offset` on, with the state in that commit's metadata. */
  begin(offset: number, metadata: string | null): void {
    this.#mode = "taking";
    this.#window.open(offset, metadata);
    this.#position.seek(offset);
    this.#syncFetch();
  }

  /** A JOIN left the partition with this member: ends the freeze, and fetches anew from the position (C5). */
  keep(): void {
    this.#frozen = false;
    if (this.#mode === "taking") this.#position.seekAgain();
    this.#position.restatePaused(this.#hasReasonToPause());
    this.#window.thaw();
    this.#pump();
  }

  /** Takes nothing in and starts nothing, until `keep`. */
  freeze(): void {
    this.#frozen = true;
    this.#window.freeze();
    this.#syncFetch();
  }

  /** The partition was given up. */
  revoke(): void {
    this.#mode = "revoked";
    this.#window.revoke();
    this.#delay?.close();
    this.#backlog.clear();
  }

  /** Notes the partition's end offset, as a fetch or the lag meter saw it. */
  noteEnd(end: number): void {
    this.#position.noteEnd(end);
    this.#delay?.noteEnd(end);
  }

  noteLeader(isLed: boolean): void {
    this.#position.noteLeader(isLed);
  }

  /** True when the partition holds no record, fetched ones included, and its window may be filled to its limits. */
  get isAtRest(): boolean {
    const { records, fillTo, maxRecords } = this.#window;
    return this.#backlog.size === 0 && records === 0 && fillTo === maxRecords;
  }

  /** Looks how far the window is to be filled (window-fill.ts). */
  lookAtFill(isBusy: boolean): void {
    this.#window.lookAtFill(isBusy);
    if (this.#backlog.size > 0) this.#pump();
  }

  /** Backpressure no longer holds the intake back. */
  release(): void {
    this.#pump();
  }

  /**
   * Takes in a fetch's records, at once or as the window gets space. False when the batch was refused as a whole (PI1,
   * PI3).
   */
  accept({ messages, fetchedFrom, lastOffset, endOffset }: FetchedBatch): boolean {
    if (this.#mode !== "taking" || this.#frozen) return false;
    this.noteEnd(endOffset);
    const position = this.#position.offset;
    const moved = this.#position.moveOver({ fetchedFrom, lastOffset });
    if (moved !== "taken") return moved === "old";
    // A broker answers whole batches, so the first records may lie below the position.
    const above = fetchedFrom < position ? messages.filter(({ offset }) => Number(offset) >= position) : messages;
    this.#backlog.append(above);
    if (this.#prefetching) this.#prefetchAhead(above);
    this.#pump();
    return true;
  }

  /** A fetch brought offsets without records, such as markers: passes over them when they begin at the position. */
  skip(firstOffset: number, lastOffset: number): void {
    if (this.#mode !== "taking" || this.#frozen) return;
    if (this.#position.skip(firstOffset, lastOffset)) this.#pump();
  }

  /**
   * The point to commit for the partition; null unless the intake is taking, and null when nothing changed and `forced`
   * is false.
   */
  commitPoint(forced: boolean): CommitPoint | null {
    return this.#mode === "taking" ? this.#window.commitPoint(forced) : null;
  }

  /** The brokers did not accept a commit: its point is due again. */
  commitFailed(): void {
    this.#window.commitFailed();
  }

  #onFinished(): void {
    if (this.#frozen) {
      if (this.#window.running === 0) this.#hooks.onIdle();
    } else if (this.#backlog.size > 0) this.#pump();
  }

  /** Takes in records from the backlog while the window has space. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#canTake()) {
        const message = this.#backlog.head;
        if (message === undefined) break;
        const record = copiedRecord(message, this);
        if (!this.#isDue(record) || this.#mustPrefetch(record)) break;
        this.#backlog.shift();
        this.#window.takeIn(record);
      }
    } catch (error) {
      this.#window.fail("taking in a record", error);
    } finally {
      this.#pumping = false;
    }
    if (this.#mode !== "taking") return;
    // Offsets above a fetch's last record may hold none. They count as finished once the fetch was taken in.
    if (this.#backlog.size === 0) this.#window.skipTo(this.#position.offset);
    this.#noteFull();
    this.#syncFetch();
  }

  #canTake(): boolean {
    return (
      this.#mode === "taking" &&
      !this.#frozen &&
      !this.#prefetching &&
      this.#backlog.size > 0 &&
      !this.#window.isFilled &&
      !this.#isHeld
    );
  }

  /**
   * Whether the record is due; true for topics without a delay. A record that is not due becomes the head that waits,
   * and the records fetched behind it are dropped (W3).
   */
  #isDue(record: IncomingRecord): boolean {
    const delay = this.#delay;
    if (delay === null) return true;
    const waitMs = delay.msUntilDue(record);
    if (waitMs <= 0) {
      this.#options.onReleased?.(this.topic, -waitMs);
      return true;
    }
    this.#backlog.clear();
    this.#position.seek(record.offset);
    delay.hold({ offset: record.offset, appendedAtMs: record.timestampMs }, waitMs);
    return false;
  }

  #mustPrefetch(record: IncomingRecord): boolean {
    const prefetched = this.#options.prefetch?.(record);
    if (prefetched === undefined) return false;
    this.#prefetching = true;
    this.#prefetchAhead(this.#backlog.messages());
    prefetched.then(
      () => {
        this.#prefetching = false;
        this.#pump();
      },
      (error: unknown) => this.#window.fail("prefetching what a record needs", unreadable(record, error)),
    );
    return true;
  }

  /**
   * Asks for the schemas of the records behind a waiting head too, so that all missing schemas are waited for at once.
   */
  #prefetchAhead(messages: Iterable<KafkaMessage>): void {
    for (const { value } of messages) if (value !== null) this.#options.prefetchAhead?.(value);
  }

  #noteFull(): void {
    const full = this.#backlog.size > 0 && this.#window.isFull;
    if (full && !this.#wasFull) this.#options.onFull?.(this.#window);
    this.#wasFull = full;
  }

  get #isHeld(): boolean {
    return this.#options.backpressure?.isHolding ?? false;
  }

  #hasReasonToPause(): boolean {
    return (
      this.#mode !== "taking" ||
      this.#frozen ||
      this.#backlog.size > this.#window.fillTo * FETCH_BELOW ||
      (this.#backlog.size > 0 && this.#isHeld) ||
      (this.#delay?.head ?? null) !== null
    );
  }

  #syncFetch(): void {
    if (this.#mode === "revoked") return;
    this.#position.setPaused(this.#hasReasonToPause());
  }
}
