/**
 * The intake of one owned partition: what kafkajs fetches of it, on the way into its window.
 *
 * Owns: the window, the fetch position, and the backlog: fetched records that the window has no space for yet, fewer
 * than half a window and one fetch. The intake is
 * - *locating* until `begin`: the partition's place is not known, and it is not fetched;
 * - *taking* from then on;
 * - *revoked* for good from `revoke` on.
 * PI1  Records are taken in once and in offset order. A batch that was fetched from above the position is refused and
 *      the position sought; a second one from the same place is taken, since kafkajs then skipped offsets without a
 *      record (C9).
 * PI2  The partition is paused exactly while there is a reason: its place is not known, its backlog is half of what the
 *      window is filled to, it has a backlog and backpressure holds it, its head is not due, or it is frozen. The
 *      intake pauses it and does not wait in kafkajs's batch handler, so that the broker's other partitions go on (C8).
 *      While its head's schema is waited for it fetches on, and the schemas of what comes behind are waited for
 *      meanwhile.
 * PI3  While the intake is frozen nothing is taken in.
 * PI4  What is taken in is a copy (copied-record.ts).
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

/** What an intake tells the consumer that owns it. */
export interface IntakeHooks {
  readonly clock: Clock;
  readonly share: WorkingSetShare;
  /** A bug of the caller: the consumer ends. */
  onFailure(reason: Error): void;
  /** Every task that was started is finished. Called only while the intake is frozen. */
  onIdle(): void;
  /** There is something new to commit. */
  onChanged(): void;
}

/**
 * Part of a window: while the backlog is smaller the next fetch is asked for, so that it comes before the window runs
 * dry.
 */
const FETCH_BELOW = 0.5;

export class PartitionIntake<T, F> implements TopicPartition {
  readonly topic: string;
  readonly partition: number;
  readonly #options: WindowedConsumerOptions<T, F>;
  readonly #position: FetchPosition;
  readonly #hooks: IntakeHooks;
  readonly #gate: RetryDelay | null;
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
    this.#gate = delayMs === undefined ? null : new RetryDelay(delayMs, hooks.clock, () => this.#pump());
    this.#window = new OwnedPartitionWindow(place, options, {
      onFinished: () => this.#onFinished(),
      onChanged: () => hooks.onChanged(),
      onFailure: (reason) => hooks.onFailure(reason),
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

  /** Append time of the lowest record that is known and not finished, in ms since the epoch; null without one. */
  get oldestUnfinishedMs(): number | null {
    const waiting = this.#backlog.head;
    return (
      this.#window.lowestTimestampMs ??
      this.#gate?.head?.appendedAtMs ??
      (waiting === undefined ? null : Number(waiting.timestamp))
    );
  }

  get hasNothingToFetch(): boolean {
    return this.#position.hasNothingToFetch;
  }

  /** Its place was found: begins to take in at `offset`, knowing what the commit's metadata says. */
  begin(offset: number, metadata: string | null): void {
    this.#mode = "taking";
    this.#window.open(offset, metadata);
    this.#position.seek(offset);
    this.#syncFetch();
  }

  /** The group was joined again and the partition is still owned: fetching begins anew at the position (C5). */
  keep(): void {
    this.#frozen = false;
    if (this.#mode === "taking") this.#position.seekAgain();
    this.#position.restatePaused(this.#hasReasonToPause());
    this.#window.thaw();
    this.#pump();
  }

  /** Nothing is taken in or started, until `keep`. */
  freeze(): void {
    this.#frozen = true;
    this.#window.freeze();
    this.#syncFetch();
  }

  /** The partition was given up. */
  revoke(): void {
    this.#mode = "revoked";
    this.#window.revoke();
    this.#gate?.close();
    this.#backlog.clear();
  }

  /** The partition's end offset was seen otherwise than by a fetch. */
  noteEnd(end: number): void {
    this.#position.noteEnd(end);
    this.#gate?.noteEnd(end);
  }

  noteLeader(isLed: boolean): void {
    this.#position.noteLeader(isLed);
  }

  /** It holds no record, fetched ones included, and its window is filled to its limits when records come. */
  get isAtRest(): boolean {
    const { records, fillTo, maxRecords } = this.#window;
    return this.#backlog.size === 0 && records === 0 && fillTo === maxRecords;
  }

  /** Looks how far the window is to be filled. */
  lookAtFill(isBusy: boolean): void {
    this.#window.lookAtFill(isBusy);
    if (this.#backlog.size > 0) this.#pump();
  }

  /** What held the intake back holds it no more. */
  release(): void {
    this.#pump();
  }

  /**
   * Takes in what a fetch brought, at once or as the window empties. False when the batch was refused (PI1): then
   * nothing of it was taken.
   */
  accept({ messages, fetchedFrom, lastOffset, endOffset }: FetchedBatch): boolean {
    if (this.#mode !== "taking" || this.#frozen) return false;
    this.noteEnd(endOffset);
    const position = this.#position.offset;
    const moved = this.#position.moveOver({ fetchedFrom, lastOffset });
    if (moved !== "taken") return moved === "old";
    // A broker answers whole batches, so records below the position may come along.
    const above = fetchedFrom < position ? messages.filter(({ offset }) => Number(offset) >= position) : messages;
    this.#backlog.append(above);
    if (this.#prefetching) this.#prefetchAhead(above);
    this.#pump();
    return true;
  }

  /** A fetch brought offsets that hold no record (markers); they are passed over when they begin at the position. */
  skip(firstOffset: number, lastOffset: number): void {
    if (this.#mode !== "taking" || this.#frozen) return;
    if (this.#position.skip(firstOffset, lastOffset)) this.#pump();
  }

  /**
   * What to commit; null when nothing changed and it is not `forced`, and unless the partition is owned and its place
   * known.
   */
  commitPoint(forced: boolean): CommitPoint | null {
    return this.#mode === "taking" ? this.#window.commitPoint(forced) : null;
  }

  /** A commit was not accepted: its point is due again. */
  commitFailed(): void {
    this.#window.commitFailed();
  }

  #onFinished(): void {
    if (this.#frozen) {
      if (this.#window.running === 0) this.#hooks.onIdle();
    } else if (this.#backlog.size > 0) this.#pump();
  }

  /** Takes in from the backlog while the window has space. */
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
    // Above the last record of the fetch there may be offsets that hold none: they are finished with it.
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
   * False when the record's topic lets it wait: it becomes the head, and what was fetched behind it is dropped (W3).
   */
  #isDue(record: IncomingRecord): boolean {
    const gate = this.#gate;
    if (gate === null) return true;
    const waitMs = gate.msUntilDue(record);
    if (waitMs <= 0) {
      this.#options.onReleased?.(this.topic, -waitMs);
      return true;
    }
    this.#backlog.clear();
    this.#position.seek(record.offset);
    gate.hold({ offset: record.offset, appendedAtMs: record.timestampMs }, waitMs);
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

  /** What stands behind a record that waits for its schema may lack one too: all are waited for at once. */
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
      (this.#gate?.head ?? null) !== null
    );
  }

  #syncFetch(): void {
    if (this.#mode === "revoked") return;
    this.#position.setPaused(this.#hasReasonToPause());
  }
}
