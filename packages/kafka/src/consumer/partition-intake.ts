/**
 * The intake of one owned partition: what kafkajs fetches of it, on the way into its window.
 *
 * Owns: the window, and the fetched records that found no room yet (the backlog, less than half a window and one fetch). Its
 * modes: *locating* (its place is not known, nothing is fetched), *taking*, *revoked* (for good).
 * B1  Records are taken in once and in offset order. A batch that was fetched from above the position is refused and the
 *     position sought; a second one from the same position is taken, since kafkajs then skipped what is no record (C9).
 * B2  Fetching is paused exactly while there is a reason: locating, a backlog of half a window, or any while backpressure holds
 *     it, a head that is not due, something to learn first, or a rebalance. Pausing, not waiting in the batch handler: a broker's other partitions go
 *     on (C8).
 * B3  While frozen nothing is taken in.
 * B4  What is taken in is copied: kafkajs's buffers are views of a whole fetch, and one record that waits would keep
 *     megabytes that no limit counts.
 */
import type { IncomingHeaders } from "@posthaste/contracts/headers";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { Clock } from "@posthaste/core/time";
import type { KafkaMessage } from "kafkajs";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import type { CommitPoint } from "./group-session.ts";
import { OwnedPartitionWindow } from "./partition-window.ts";
import type { OwnedPartition, TopicPartition } from "./rebalance.ts";
import { RetryDelay } from "./retry-delay.ts";
import type { PartitionWindow, WindowedConsumerOptions } from "./windowed-consumer.ts";

/** kafkajs's fetching of one partition. */
export interface PartitionFetch {
  pause(): void;
  resume(): void;
  /** The next fetch begins at `offset`. */
  seek(offset: number): void;
}

/** What a runner tells the consumer that owns it. */
export interface RunnerHooks {
  readonly clock: Clock;
  /** A bug of the caller; the consumer ends. */
  onFailure(reason: Error): void;
  /** Nothing that was started is unfinished. Called only while frozen. */
  onIdle(): void;
}

/** What one fetch brought of the partition. */
export interface FetchedBatch {
  readonly messages: readonly KafkaMessage[];
  /** The offset that was asked for. */
  readonly fetchedFrom: number;
  /** The last offset that the fetch covers, records or not. */
  readonly lastOffset: number;
  /** The partition's end offset at the time. */
  readonly endOffset: number;
}

/** The next fetch is asked for when the backlog is less than this part of the window, so that it comes before the window runs dry. */
const FETCH_BELOW = 0.5;

const NO_HEADERS: IncomingHeaders = Object.freeze({});

export class PartitionIntake<T, F> implements TopicPartition {
  readonly topic: string;
  readonly partition: number;
  readonly #options: WindowedConsumerOptions<T, F>;
  readonly #fetch: PartitionFetch;
  readonly #hooks: RunnerHooks;
  readonly #gate: RetryDelay | null;
  readonly #window: OwnedPartitionWindow<T, F>;
  #mode: "locating" | "taking" | "revoked" = "locating";
  /** The fetched records that are not taken in yet, from `#next` on. */
  #backlog: readonly KafkaMessage[] = [];
  #next = 0;
  /** The next offset to fetch: above the backlog. */
  #fetchPosition = 0;
  #soughtAt = -1;
  #endOffset = 0;
  #isLed = true;
  #frozen = false;
  #paused = true;
  #prefetching = false;
  #pumping = false;
  #wasFull = false;

  constructor(
    place: OwnedPartition,
    options: WindowedConsumerOptions<T, F>,
    fetch: PartitionFetch,
    hooks: RunnerHooks,
  ) {
    this.topic = place.topic;
    this.partition = place.partition;
    this.#options = options;
    this.#fetch = fetch;
    this.#hooks = hooks;
    const delayMs = options.delayMsOf?.(place.topic);
    this.#gate = delayMs === undefined ? null : new RetryDelay(delayMs, hooks.clock, () => this.#pump());
    this.#window = new OwnedPartitionWindow(place, options, {
      onFinished: () => this.#onFinished(),
      onFailure: (reason) => hooks.onFailure(reason),
    });
  }

  get window(): PartitionWindow {
    return this.#window;
  }

  get isLocating(): boolean {
    return this.#mode === "locating";
  }

  /** The next fetch leaves it out: it is seen to be resumed only when that fetch has ended. */
  get isPaused(): boolean {
    return this.#paused;
  }

  /** Tasks that were started and are not finished. */
  get running(): number {
    return this.#window.running;
  }

  get committableOffset(): number {
    return this.#window.committableOffset;
  }

  /** The highest end offset that was seen. */
  get endOffset(): number {
    return Math.max(this.#endOffset, this.#fetchPosition);
  }

  /** Append time of the lowest record that is known and not finished, in ms since the epoch; null when there is none. */
  get oldestUnfinishedMs(): number | null {
    const waiting = this.#backlog[this.#next];
    return (
      this.#window.lowestTimestampMs ??
      this.#gate?.head?.appendedAtMs ??
      (waiting === undefined ? null : Number(waiting.timestamp))
    );
  }

  /** Nothing is known to be left to fetch, it is not to be fetched now, or there is nobody to fetch it from. */
  get hasNothingToFetch(): boolean {
    return this.#paused || !this.#isLed || this.#fetchPosition >= this.#endOffset;
  }

  /** Its place was found: begins to take in at `offset`, knowing what the commit's metadata says. */
  begin(offset: number, metadata: string | null): void {
    this.#window.open(offset, metadata);
    this.#mode = "taking";
    this.#fetchPosition = offset;
    this.#fetch.seek(offset);
    this.#syncFetch();
  }

  /** The group was joined again and the partition is still ours: fetching begins anew where it stood (C5). */
  keep(): void {
    this.#frozen = false;
    if (this.#mode === "taking") this.#fetch.seek(this.#fetchPosition);
    // Said outright: kafkajs's own picture of what is paused outlives assignments.
    this.#paused = !this.#hasReasonToPause();
    this.#syncFetch();
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
    this.#dropBacklog();
  }

  /** The partition's end offset was seen otherwise than by a fetch. */
  noteEnd(end: number): void {
    if (end > this.#endOffset) this.#endOffset = end;
    this.#gate?.noteEnd(end);
  }

  /** Whether the partition has a leader; until it is told otherwise it has. */
  noteLeader(isLed: boolean): void {
    this.#isLed = isLed;
  }

  /** What held the intake back does no more. */
  release(): void {
    this.#pump();
  }

  /** Takes in what a fetch brought, at once or as room comes. False when it was refused (B1): nothing of it counts. */
  accept({ messages, fetchedFrom, lastOffset, endOffset }: FetchedBatch): boolean {
    if (this.#mode !== "taking" || this.#frozen) return false;
    this.noteEnd(endOffset);
    const position = this.#fetchPosition;
    if (lastOffset < position) return true;
    if (fetchedFrom > position && this.#soughtAt !== position) {
      this.#soughtAt = position;
      this.#fetch.seek(position);
      return false;
    }
    const fresh = fetchedFrom < position ? messages.filter(({ offset }) => Number(offset) >= position) : messages;
    this.#backlog = this.#next < this.#backlog.length ? [...this.#backlog.slice(this.#next), ...fresh] : fresh;
    this.#next = 0;
    this.#fetchPosition = lastOffset + 1;
    this.#pump();
    return true;
  }

  /** A fetch brought offsets that hold no record (markers); they are passed over when they begin at the position. */
  skip(firstOffset: number, lastOffset: number): void {
    if (this.#mode !== "taking" || this.#frozen || firstOffset !== this.#fetchPosition) return;
    this.#fetchPosition = lastOffset + 1;
    this.#pump();
  }

  /** What to commit; null when nothing changed and it is not `forced`, and unless the partition is owned and its place known. */
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
    } else if (this.#next < this.#backlog.length) this.#pump();
  }

  /** Takes in from the backlog while there is room. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#canTake()) {
        const message = this.#backlog[this.#next];
        if (message === undefined) break;
        const record = this.#toRecord(message);
        if (!this.#isDue(record) || this.#mustPrefetch(record)) break;
        this.#next += 1;
        this.#window.takeIn(record);
      }
    } catch (error) {
      this.#window.fail("taking in a record", error);
    } finally {
      this.#pumping = false;
    }
    if (this.#mode !== "taking") return;
    if (this.#next >= this.#backlog.length) this.#dropBacklog();
    // Above the last record of the fetch there may be offsets that hold none: they are finished with it.
    if (this.#backlog.length === 0) this.#window.skipTo(this.#fetchPosition);
    this.#noteFull();
    this.#syncFetch();
  }

  #canTake(): boolean {
    return (
      this.#mode === "taking" &&
      !this.#frozen &&
      !this.#prefetching &&
      this.#next < this.#backlog.length &&
      !this.#window.isFull &&
      !this.#isHeld
    );
  }

  /** False when the record's topic lets it wait: it becomes the head, and what was fetched behind it is dropped (W3). */
  #isDue(record: IncomingRecord): boolean {
    const gate = this.#gate;
    if (gate === null) return true;
    const waitMs = gate.msUntilDue(record);
    if (waitMs <= 0) {
      this.#options.onReleased?.(this.topic, -waitMs);
      return true;
    }
    this.#dropBacklog();
    this.#fetchPosition = record.offset;
    this.#soughtAt = -1;
    this.#fetch.seek(record.offset);
    gate.hold({ offset: record.offset, appendedAtMs: record.timestampMs }, waitMs);
    return false;
  }

  #mustPrefetch(record: IncomingRecord): boolean {
    const prefetched = this.#options.prefetch?.(record);
    if (prefetched === undefined) return false;
    this.#prefetching = true;
    prefetched.then(
      () => {
        this.#prefetching = false;
        this.#pump();
      },
      (error: unknown) => {
        const where = `offset ${record.offset} of ${this.topic} partition ${this.partition}`;
        const reason = isPosthasteError(error)
          ? new PosthasteError(error.code, `${where} cannot be read: ${error.message}`, { cause: error })
          : error;
        this.#window.fail("learning what a record needs", reason);
      },
    );
    return true;
  }

  #dropBacklog(): void {
    this.#backlog = [];
    this.#next = 0;
  }

  #noteFull(): void {
    const full = this.#backlog.length > 0 && this.#window.isFull;
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
      this.#prefetching ||
      this.#backlog.length - this.#next > this.#window.maxRecords * FETCH_BELOW ||
      (this.#next < this.#backlog.length && this.#isHeld) ||
      (this.#gate?.head ?? null) !== null
    );
  }

  #syncFetch(): void {
    if (this.#mode === "revoked") return;
    const pause = this.#hasReasonToPause();
    if (pause === this.#paused) return;
    this.#paused = pause;
    if (pause) this.#fetch.pause();
    else this.#fetch.resume();
  }

  #toRecord({ offset, timestamp, key, value, headers }: KafkaMessage): IncomingRecord {
    return {
      topic: this.topic,
      partition: this.partition,
      offset: Number(offset),
      timestampMs: Number(timestamp),
      key: key === null ? null : Buffer.from(key),
      value: value === null ? null : Buffer.from(value),
      headers: headers === undefined ? NO_HEADERS : textHeaders(headers),
    };
  }
}

/** Headers as text, which they are in all of our topics; copied like the rest (B4). */
function textHeaders(headers: IncomingHeaders): IncomingHeaders {
  let texts: Record<string, string | string[]> | null = null;
  for (const name in headers) {
    const value = headers[name];
    texts ??= {};
    if (Array.isArray(value)) texts[name] = value.map(String);
    else if (value !== undefined) texts[name] = value.toString();
  }
  return texts ?? NO_HEADERS;
}
