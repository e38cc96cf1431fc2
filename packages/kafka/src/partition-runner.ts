/**
 * One owned partition: its intake, its window and its committable offset.
 *
 * Owns: the fetched records that found no room yet (the backlog, less than half a window and one fetch), the tasks of the
 * window, and the two states of the fold. Its modes: *locating* (its place is not known, nothing is fetched), *taking*,
 * *revoked* (for good: results count for nothing).
 * Q1  Records are taken in once and in offset order. A batch that was fetched from above the position is refused and the
 *     position sought; a second one from the same position is taken, since kafkajs then skipped what is no record (C9).
 * Q2  Fetching is paused exactly while there is a reason: locating, a backlog of half a window, a head that is not due,
 *     something to learn first, or a rebalance. Pausing, not waiting in the batch handler: a broker's other partitions go
 *     on (C8).
 * Q3  While frozen nothing is taken in and no task is started; what runs may finish.
 * Q4  A task is finished once, and only while the partition is owned (C2, C4).
 * Q5  What is taken in is copied: kafkajs's buffers are views of a whole fetch, and one record that waits would keep
 *     megabytes that no limit counts.
 * Q6  `#passedFold` covers exactly the records below the committable offset (D3), `#intakeFold` all that were taken in.
 */
import type { IncomingHeaders } from "@posthaste/contracts/headers";
import { decodeCommitMetadata, encodeCommitMetadata } from "@posthaste/core/commit-metadata";
import { PosthasteError } from "@posthaste/core/errors";
import { Lanes } from "@posthaste/core/lanes";
import { OffsetTracker } from "@posthaste/core/offset-tracker";
import type { Clock } from "@posthaste/core/time";
import type { KafkaMessage } from "kafkajs";
import type { CommitPoint } from "./coordinator.ts";
import { DueGate } from "./due-gate.ts";
import type { FoldState, IncomingRecord, WindowedConsumerOptions } from "./window.ts";
import { type TaskOwner, type Trace, WindowTask } from "./window-task.ts";

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

type Mode = "locating" | "taking" | "revoked";

export class PartitionRunner<T, F> implements TaskOwner<T, F> {
  readonly topic: string;
  readonly partition: number;
  readonly #options: WindowedConsumerOptions<T, F>;
  readonly #fetch: PartitionFetch;
  readonly #hooks: RunnerHooks;
  readonly #gate: DueGate | null;
  readonly #lanes = new Lanes<WindowTask<T, F>>();
  readonly #holders = new Map<string, number>();
  #mode: Mode = "locating";
  #tracker = new OffsetTracker<Trace<F>>(0);
  #intakeFold: FoldState<F> | null = null;
  #passedFold: FoldState<F> | null = null;
  /** The fetched records that are not taken in yet, from `#next` on. */
  #backlog: readonly KafkaMessage[] = [];
  #next = 0;
  /** The next offset to fetch: above the backlog. */
  #fetchPosition = 0;
  #soughtAt = -1;
  #endOffset = 0;
  #frozen = false;
  #paused = true;
  #learning = false;
  #pumping = false;
  #wasFull = false;
  #ready: WindowTask<T, F>[] = [];
  #starting = false;
  #running = 0;
  #records = 0;
  #bytes = 0;
  #changed = true;

  constructor(
    place: { readonly topic: string; readonly partition: number },
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
    this.#gate = delayMs === undefined ? null : new DueGate(delayMs, hooks.clock, () => this.#pump());
  }

  get records(): number {
    return this.#records;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get maxRecords(): number {
    return this.#options.window.maxRecords;
  }

  get isFull(): boolean {
    const { maxRecords, maxBytes } = this.#options.window;
    return this.#records > 0 && (this.#records >= maxRecords || this.#bytes >= maxBytes);
  }

  get isRevoked(): boolean {
    return this.#mode === "revoked";
  }

  get isLocating(): boolean {
    return this.#mode === "locating";
  }

  /** Whether kafkajs is asked to fetch it. */
  get isPaused(): boolean {
    return this.#paused;
  }

  /** Tasks that were started and are not finished. */
  get running(): number {
    return this.#running;
  }

  get committableOffset(): number {
    return this.#tracker.committableOffset;
  }

  /** The highest end offset that was seen. */
  get endOffset(): number {
    return Math.max(this.#endOffset, this.#fetchPosition);
  }

  /** Append time of the lowest record that is known and not finished, in ms since the epoch; null when there is none. */
  get oldestUnfinishedMs(): number | null {
    const waiting = this.#backlog[this.#next];
    return (
      this.#tracker.lowest?.timestampMs ??
      this.#gate?.head?.appendedAtMs ??
      (waiting === undefined ? null : Number(waiting.timestamp))
    );
  }

  /** Nothing is known to be left to fetch, or it is not to be fetched now. */
  get hasNothingToFetch(): boolean {
    return this.#paused || this.#fetchPosition >= this.#endOffset;
  }

  heldBy(holder: string): number {
    return this.#holders.get(holder) ?? 0;
  }

  /** Its place was found: begins to take in at `offset`, knowing what the commit's metadata says. */
  begin(offset: number, metadata: string | null): void {
    const { finishedRuns, state } = decodeCommitMetadata(offset, metadata);
    this.#tracker = new OffsetTracker<Trace<F>>(offset, finishedRuns, (trace) => this.#onPassed(trace));
    this.#intakeFold = this.#options.fold?.open(state) ?? null;
    this.#passedFold = this.#options.fold?.open(state) ?? null;
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
    this.#startReady();
    this.#pump();
  }

  /** Q3, until `keep`. */
  freeze(): void {
    this.#frozen = true;
    this.#syncFetch();
  }

  /** The partition was given up. */
  revoke(): void {
    this.#mode = "revoked";
    this.#gate?.close();
    this.#backlog = [];
    this.#ready = [];
  }

  /** The partition's end offset was seen otherwise than by a fetch. */
  noteEnd(end: number): void {
    if (end > this.#endOffset) this.#endOffset = end;
    this.#gate?.noteEnd(end);
  }

  /** Takes in what a fetch brought, at once or as room comes. False when it was refused (Q1): nothing of it counts. */
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
    this.#changed = true;
    this.#pump();
  }

  /** What to commit, or null when nothing changed since the last one that was accepted and it is not `forced`. */
  commitPoint(forced: boolean): CommitPoint | null {
    if (this.#mode !== "taking" || !(this.#changed || forced)) return null;
    const offset = this.#tracker.committableOffset;
    const metadata = encodeCommitMetadata(offset, {
      finishedRuns: this.#tracker.finishedRuns(),
      state: this.#passedFold?.encode() ?? null,
    });
    this.#changed = false;
    return { topic: this.topic, partition: this.partition, offset, metadata };
  }

  /** A commit was not accepted: its point is due again. */
  commitFailed(): void {
    this.#changed = true;
  }

  finishTask(task: WindowTask<T, F>): void {
    if (this.#mode === "revoked") return;
    this.#running -= 1;
    this.#records -= 1;
    this.#bytes -= task.bytes;
    if (task.holder !== undefined) this.#release(task.holder);
    this.#finishTrace(task.trace);
    const next = this.#lanes.finish(task);
    if (next !== undefined) {
      this.#ready.push(next);
      this.#startReady();
    }
    if (this.#frozen) {
      if (this.#running === 0) this.#hooks.onIdle();
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
        if (!this.#isDue(record) || this.#mustLearn(record)) break;
        this.#next += 1;
        this.#takeIn(record);
      }
    } catch (error) {
      this.#fail("taking in a record", error);
    } finally {
      this.#pumping = false;
    }
    if (this.#next >= this.#backlog.length) this.#dropBacklog();
    // Above the last record of the fetch there may be offsets that hold none: they are finished with it.
    if (this.#backlog.length === 0 && this.#mode === "taking") this.#tracker.skipTo(this.#fetchPosition);
    this.#noteFull();
    this.#syncFetch();
  }

  #canTake(): boolean {
    return (
      this.#mode === "taking" && !this.#frozen && !this.#learning && this.#next < this.#backlog.length && !this.isFull
    );
  }

  /** False when the record's topic lets it wait: it becomes the head, and what was fetched behind it is dropped (W3). */
  #isDue(record: IncomingRecord): boolean {
    const gate = this.#gate;
    if (gate === null) return true;
    const waitMs = gate.msUntilDue(record.offset, record.timestampMs);
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

  #mustLearn(record: IncomingRecord): boolean {
    const learned = this.#options.learn?.(record);
    if (learned === undefined) return false;
    this.#learning = true;
    learned.then(
      () => {
        this.#learning = false;
        this.#pump();
      },
      (error: unknown) => this.#fail("learning what a record needs", error),
    );
    return true;
  }

  #takeIn(record: IncomingRecord): void {
    const { take, fold, laneOf, holderOf, onRepeat } = this.#options;
    const item = take(record);
    const folded = fold?.pick(item);
    const trace: Trace<F> = { offset: record.offset, timestampMs: record.timestampMs, folded, finished: false };
    const finishedBefore = this.#tracker.wasFinishedBefore(record.offset);
    this.#tracker.add(trace);
    const isRepeat = folded !== undefined && this.#noteIntake(folded);
    if (finishedBefore || isRepeat) {
      this.#finishTrace(trace);
      if (isRepeat) onRepeat?.(item, record);
      return;
    }
    const task = new WindowTask(this, item, record, trace, laneOf(item, record), holderOf?.(item));
    this.#records += 1;
    this.#bytes += task.bytes;
    if (task.holder !== undefined) this.#holders.set(task.holder, this.heldBy(task.holder) + 1);
    if (!this.#lanes.add(task)) return;
    this.#ready.push(task);
    this.#startReady();
  }

  /** True when the record is a repeat (D2). */
  #noteIntake(folded: F): boolean {
    const state = this.#intakeFold;
    if (state === null) return false;
    const isRepeat = state.isRepeat(folded);
    state.note(folded);
    return isRepeat;
  }

  /** A loop and not a call from each `finish`: a lane of tasks that finish as they start would fill the stack. */
  #startReady(): void {
    if (this.#starting || this.#ready.length === 0) return;
    this.#starting = true;
    for (let index = 0; index < this.#ready.length; index += 1) {
      if (this.#frozen || this.#mode !== "taking") {
        this.#ready = this.#ready.slice(index);
        this.#starting = false;
        return;
      }
      const task = this.#ready[index];
      if (task !== undefined) this.#start(task);
    }
    this.#ready.length = 0;
    this.#starting = false;
  }

  #start(task: WindowTask<T, F>): void {
    this.#running += 1;
    try {
      const done = this.#options.run(task);
      if (done !== undefined)
        done.then(
          () => task.finish(),
          (error: unknown) => this.#fail("running a task", error),
        );
    } catch (error) {
      this.#fail("running a task", error);
    }
  }

  #finishTrace(trace: Trace<F>): void {
    this.#changed = true;
    this.#tracker.finish(trace);
  }

  #onPassed({ folded }: Trace<F>): void {
    if (folded !== undefined) this.#passedFold?.note(folded);
  }

  #release(holder: string): void {
    const held = this.heldBy(holder) - 1;
    if (held > 0) this.#holders.set(holder, held);
    else this.#holders.delete(holder);
  }

  #dropBacklog(): void {
    this.#backlog = [];
    this.#next = 0;
  }

  #noteFull(): void {
    const full = this.#backlog.length > 0 && this.isFull;
    if (full && !this.#wasFull) this.#options.onFull?.(this);
    this.#wasFull = full;
  }

  #hasReasonToPause(): boolean {
    return (
      this.#mode !== "taking" ||
      this.#frozen ||
      this.#learning ||
      this.#backlog.length - this.#next > this.maxRecords * FETCH_BELOW ||
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
      headers: headers === undefined ? {} : textHeaders(headers),
    };
  }

  /** A failure of something that was given up is nobody's. */
  #fail(what: string, error: unknown): void {
    if (this.#mode === "revoked") return;
    const where = `${what} of ${this.topic} partition ${this.partition}`;
    this.#hooks.onFailure(
      error instanceof PosthasteError ? error : new PosthasteError("internal", `${where} failed`, { cause: error }),
    );
  }
}

/** Headers as text, which they are in all of our topics; copied like the rest (Q5). */
function textHeaders(headers: IncomingHeaders): IncomingHeaders {
  const texts: Record<string, string | string[]> = {};
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) texts[name] = value.map(String);
    else if (value !== undefined) texts[name] = value.toString();
  }
  return texts;
}
