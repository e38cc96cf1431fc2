/**
 * The window of one owned partition: the tasks that were taken in and are not finished, and what may be committed.
 *
 * Owns: the offset tracker, the lanes, and the two states of the checkpoint. The window is empty until `open` and
 * revoked for good by `revoke`; between them it is *frozen* from `freeze` to `thaw`.
 * PW1  A task is finished once, and only while the partition is owned (C2, C4).
 * PW2  While the window is frozen no task is started; what runs may finish.
 * PW3  The window's limits bound what is unfinished. Of a finished record that the committable offset has not passed,
 *      the window keeps what the checkpoint needs to note of it, and the commit's metadata names the run of finished
 *      offsets that it is in (OT5 of offset-tracker.ts). The offsets above an unfinished record are bounded too, by
 *      `MAX_SPAN` (C3): a record that is stuck, as a republish may be, stops the partition in the end, and a crash
 *      repeats no more than that.
 * PW4  `#passedState` covers exactly the records below the committable offset (D3). `#intakeState` covers all records
 *      that were taken in, also those that an earlier owner had finished.
 */
import { randomInt } from "node:crypto";
import { PosthasteError } from "@posthaste/core/errors";
import { decodeCommitMetadata, encodeCommitMetadata, MAX_METADATA_RUNS } from "@posthaste/core/window/commit-metadata";
import { Lanes } from "@posthaste/core/window/lanes";
import { OffsetTracker, TrackedOffset } from "@posthaste/core/window/offset-tracker";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import type { CommitPoint } from "./group-session.ts";
import type { OwnedPartition } from "./rebalance.ts";
import { type RecordOwner, type TaskOwner, WindowTask } from "./task.ts";
import { WindowFill, type WorkingSetShare } from "./window-fill.ts";
import type { CheckpointedState, WindowedConsumerOptions } from "./windowed-consumer.ts";

/** Offsets from the lowest unfinished record to the position: ten seconds of 50,000 records a second. */
export const MAX_SPAN = 500_000;

/** What a window tells the intake that feeds it. */
export interface OwnedPartitionWindowHooks {
  /** A task was finished: the window may have space again. */
  onFinished(): void;
  /** There is something new to commit: `commitPoint` answers without force again. */
  onChanged(): void;
  /** A bug of the caller: the consumer ends. */
  onFailure(reason: Error): void;
  readonly share: WorkingSetShare;
}

export class OwnedPartitionWindow<T, F> implements TaskOwner<T, F> {
  readonly topic: string;
  readonly partition: number;
  readonly topicId: string | undefined;
  readonly #options: WindowedConsumerOptions<T, F>;
  readonly #hooks: OwnedPartitionWindowHooks;
  readonly #fill: WindowFill;
  readonly #lanes = new Lanes<WindowTask<T, F>>(randomInt(2 ** 32));
  readonly #owners = new Map<string, RecordOwner>();
  /** Most records belong to the owner of the one before: it is found without looking it up. */
  #lastOwner: RecordOwner | undefined;
  #tracker = new OffsetTracker<F>(0);
  #intakeState: CheckpointedState<F> | null = null;
  #passedState: CheckpointedState<F> | null = null;
  #revoked = false;
  #frozen = false;
  /** Tasks that may start, while they are being started or held back. */
  #ready: WindowTask<T, F>[] = [];
  #starting = false;
  #running = 0;
  #records = 0;
  /** Of them, those that wait for another of their lane. */
  #inLanes = 0;
  #bytes = 0;
  /** Something finished since the last commit point was taken. */
  #changed = true;

  constructor(place: OwnedPartition, options: WindowedConsumerOptions<T, F>, hooks: OwnedPartitionWindowHooks) {
    this.topic = place.topic;
    this.partition = place.partition;
    this.topicId = place.topicId;
    this.#options = options;
    this.#hooks = hooks;
    this.#fill = new WindowFill(options.window.maxRecords, hooks.share);
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
    if (this.#records === 0) return false;
    const span = this.#tracker.position - this.#tracker.committableOffset;
    return this.#records >= maxRecords || this.#bytes >= maxBytes || span >= MAX_SPAN;
  }

  /** Records with which nothing more is taken in. */
  get fillTo(): number {
    return this.#fill.records;
  }

  /** It is full, or it is filled as far as it is to be now. */
  get isFilled(): boolean {
    return this.#records - this.#inLanes >= this.#fill.records || this.isFull;
  }

  get isRevoked(): boolean {
    return this.#revoked;
  }

  /** Tasks that were started and are not finished. */
  get running(): number {
    return this.#running;
  }

  get committableOffset(): number {
    return this.#tracker.committableOffset;
  }

  /** Append time of the lowest unfinished record, in ms since the epoch; null when there is none. */
  get lowestTimestampMs(): number | null {
    return this.#tracker.lowest?.timestampMs ?? null;
  }

  ownedBy(owner: string): number {
    return this.#findOwner(owner)?.records ?? 0;
  }

  /** Begins at a committed offset, knowing what the commit's metadata says. */
  open(offset: number, metadata: string | null): void {
    const { finishedRuns, state } = decodeCommitMetadata(offset, metadata);
    const { checkpoint } = this.#options;
    this.#tracker = new OffsetTracker<F>(offset, {
      finishedBefore: finishedRuns,
      onPassed: (noted) => this.#passedState?.note(noted),
      condense: checkpoint?.condense,
    });
    this.#intakeState = checkpoint?.open(state) ?? null;
    this.#passedState = checkpoint?.open(state) ?? null;
    this.#hooks.onChanged();
  }

  /** Looks how far it is to be filled. */
  lookAtFill(isBusy: boolean): void {
    const { committableOffset } = this.#tracker;
    const records = this.#records - this.#inLanes;
    this.#fill.look({ records, committableOffset, owners: this.#owners.values() }, isBusy);
  }

  freeze(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
    this.#startReady();
  }

  revoke(): void {
    this.#revoked = true;
    this.#ready = [];
  }

  /**
   * Takes a record in. It is finished at once when it was finished before or is a repeat; else it runs when its lane
   * lets it.
   */
  takeIn(record: IncomingRecord): void {
    const { take, checkpoint, laneOf, ownerOf, onRepeat } = this.#options;
    const item = take(record, this);
    const noted = checkpoint?.pick(item);
    const tracked = new TrackedOffset(record.offset, record.timestampMs, noted);
    const finishedBefore = this.#tracker.wasFinishedBefore(record.offset);
    this.#tracker.add(tracked);
    const isRepeat = noted !== undefined && this.#noteIntake(noted);
    if (finishedBefore || isRepeat) {
      this.#finishTracked(tracked);
      if (isRepeat) onRepeat?.(item, record);
      return;
    }
    const owner = ownerOf === undefined ? undefined : this.#hold(ownerOf(item));
    const task = new WindowTask(this, item, record, tracked, laneOf(item, record), owner);
    this.#records += 1;
    this.#bytes += task.bytes;
    if (!this.#lanes.add(task)) {
      this.#inLanes += 1;
      return;
    }
    this.#ready.push(task);
    this.#startReady();
  }

  /** Nothing more will be taken in below `position`. */
  skipTo(position: number): void {
    if (position <= this.#tracker.position) return;
    this.#tracker.skipTo(position);
    this.#noteChange();
  }

  finishTask(task: WindowTask<T, F>): void {
    if (this.#revoked) return;
    this.#running -= 1;
    this.#records -= 1;
    this.#bytes -= task.bytes;
    if (task.owner !== undefined) this.#release(task.owner);
    this.#finishTracked(task.tracked);
    const next = this.#lanes.finish(task);
    if (next !== undefined) {
      this.#inLanes -= 1;
      this.#ready.push(next);
      this.#startReady();
    }
    this.#hooks.onFinished();
  }

  /** What to commit, or null when nothing changed since the last point was taken and it is not `forced`. */
  commitPoint(forced: boolean): CommitPoint | null {
    if (!this.#changed && !forced) return null;
    const offset = this.#tracker.committableOffset;
    const metadata = encodeCommitMetadata(offset, {
      topicId: this.topicId ?? null,
      finishedRuns: this.#tracker.finishedRuns(MAX_METADATA_RUNS),
      state: this.#passedState?.encode() ?? null,
    });
    this.#changed = false;
    return { topic: this.topic, partition: this.partition, offset, metadata };
  }

  /** The last commit point was not accepted: it is due again. */
  commitFailed(): void {
    this.#noteChange();
  }

  /**
   * Ends the consumer for a failure of its handler. After the partition was given up such a failure concerns nobody.
   */
  fail(what: string, error: unknown): void {
    if (this.#revoked) return;
    const where = `${what} of ${this.topic} partition ${this.partition}`;
    this.#hooks.onFailure(
      error instanceof PosthasteError ? error : new PosthasteError("internal", `${where} failed`, { cause: error }),
    );
  }

  /** True when the record is a repeat (D2). */
  #noteIntake(noted: F): boolean {
    const state = this.#intakeState;
    if (state === null) return false;
    const isRepeat = state.isRepeat(noted);
    state.note(noted);
    return isRepeat;
  }

  /** A loop and not a call from each `finish`: a lane of tasks that finish as they start would fill the stack. */
  #startReady(): void {
    if (this.#starting || this.#ready.length === 0) return;
    this.#starting = true;
    for (let index = 0; index < this.#ready.length; index += 1) {
      if (this.#frozen || this.#revoked) {
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
      if (done === undefined) return;
      done.then(
        () => task.finish(),
        (error: unknown) => this.fail("running a task", error),
      );
    } catch (error) {
      this.fail("running a task", error);
    }
  }

  #finishTracked(tracked: TrackedOffset<F>): void {
    this.#tracker.finish(tracked);
    this.#noteChange();
  }

  #noteChange(): void {
    if (this.#changed) return;
    this.#changed = true;
    this.#hooks.onChanged();
  }

  #findOwner(name: string): RecordOwner | undefined {
    if (this.#lastOwner?.name === name) return this.#lastOwner;
    return this.#owners.get(name);
  }

  #hold(name: string): RecordOwner {
    let owner = this.#findOwner(name);
    if (owner === undefined) {
      owner = { name, records: 0 };
      this.#owners.set(name, owner);
    }
    owner.records += 1;
    this.#lastOwner = owner;
    return owner;
  }

  #release(owner: RecordOwner): void {
    owner.records -= 1;
    if (owner.records > 0) return;
    this.#owners.delete(owner.name);
    if (this.#lastOwner === owner) this.#lastOwner = undefined;
  }
}
