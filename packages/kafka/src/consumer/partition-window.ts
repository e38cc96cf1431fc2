/**
 * The window of one owned partition: the tasks that were taken in and are not finished, and the point to commit.
 *
 * Owns: the offset tracker, the lanes, and the two states of the checkpoint. The window is
 * - *empty* until `open`;
 * - *open* from then on, and *frozen* from each `freeze` to the next `thaw`;
 * - *revoked* for good from `revoke` on.
 * PW1  A task is finished once, and only while the partition is owned (C2, C4).
 * PW2  A frozen window starts no task. Tasks that run may finish.
 * PW3  The window's limits bound the unfinished records. Of a finished record above the committable offset, the window
 *      keeps only the note that the checkpoint needs (OT5 of offset-tracker.ts). `MAX_SPAN` bounds the offsets above an
 *      unfinished record (C3): a record that never finishes, such as one whose republish fails, stops the partition in
 *      the end, and a crash repeats no more than that span.
 * PW4  `#passedState` covers exactly the records below the committable offset (D3). `#intakeState` covers all records
 *      that were taken in, those included that an earlier owner had finished.
 */
import { randomInt } from "node:crypto";
import { PosthasteError } from "@posthaste/core/errors";
import { decodeCommitMetadata, encodeCommitMetadata, MAX_METADATA_RUNS } from "@posthaste/core/window/commit-metadata";
import { Lanes } from "@posthaste/core/window/lanes";
import { OffsetTracker, TrackedOffset } from "@posthaste/core/window/offset-tracker";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import type { CommitPoint } from "./group-session.ts";
import type { OwnedPartition } from "./rebalance.ts";
import { RecordOwners } from "./record-owners.ts";
import { type TaskOwner, WindowTask } from "./task.ts";
import { WindowFill, type WorkingSetShare } from "./window-fill.ts";
import type { CheckpointedState, WindowedConsumerOptions } from "./windowed-consumer.ts";

/** Offsets from the lowest unfinished record to the position: ten seconds at 50,000 records a second. */
export const MAX_SPAN = 500_000;

/** The events that a window reports to the intake that feeds it. */
export interface OwnedPartitionWindowHooks {
  /** A task was finished: the window may have space again. */
  onFinished(): void;
  /** There is something new to commit: `commitPoint(false)` returns a point again. */
  onChanged(): void;
  /** The consumer's handler has a bug: the consumer ends. */
  onFailure(reason: Error): void;
  /** A commit's metadata had no space for all that is finished. */
  readonly onTruncated?: (() => void) | undefined;
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
  readonly #owners = new RecordOwners();
  #tracker = new OffsetTracker<F>(0);
  #intakeState: CheckpointedState<F> | null = null;
  #passedState: CheckpointedState<F> | null = null;
  #revoked = false;
  #frozen = false;
  /** Tasks that their lanes let start. The window starts them at once unless it is frozen. */
  #ready: WindowTask<T, F>[] = [];
  #starting = false;
  #running = 0;
  #records = 0;
  /** The number of `#records` that wait for another record of their lane. */
  #waitingInLanes = 0;
  #bytes = 0;
  /** Whether the commit point may differ from the last one that was taken. */
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

  /** The number of records at which the window takes in no more for now (window-fill.ts). */
  get fillTo(): number {
    return this.#fill.records;
  }

  /** True when the window takes in no more for now: it reached `fillTo`, or it is full. */
  get isFilled(): boolean {
    return this.#records - this.#waitingInLanes >= this.#fill.records || this.isFull;
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

  get lowestOwner(): string | undefined {
    return this.#tracker.lowest?.owner;
  }

  ownedBy(owner: string): number {
    return this.#owners.find(owner)?.records ?? 0;
  }

  /** Begins at a committed offset, with the state in that commit's metadata. */
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

  /** Looks how far the window is to be filled. */
  lookAtFill(isBusy: boolean): void {
    const { committableOffset } = this.#tracker;
    const records = this.#records - this.#waitingInLanes;
    this.#fill.look({ records, committableOffset, owners: this.#owners.all }, isBusy);
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
   * Takes a record in. A record that an earlier owner had finished, and a repeat, is finished at once. Any other
   * becomes a task, which runs when its lane lets it.
   */
  takeIn(record: IncomingRecord): void {
    const { take, checkpoint, laneOf, ownerOf, onRepeat } = this.#options;
    const item = take(record, this);
    const noted = checkpoint?.pick(item);
    const ownerName = ownerOf?.(item);
    const tracked = new TrackedOffset(record.offset, record.timestampMs, noted, ownerName);
    const finishedBefore = this.#tracker.wasFinishedBefore(record.offset);
    this.#tracker.add(tracked);
    const isRepeat = noted !== undefined && this.#noteIntake(noted);
    if (finishedBefore || isRepeat) {
      this.#finishTracked(tracked);
      if (isRepeat) onRepeat?.(item, record);
      return;
    }
    const owner = ownerName === undefined ? undefined : this.#owners.hold(ownerName);
    const task = new WindowTask(this, item, record, tracked, laneOf(item, record), owner);
    this.#records += 1;
    this.#bytes += task.bytes;
    if (!this.#lanes.add(task)) {
      this.#waitingInLanes += 1;
      return;
    }
    this.#ready.push(task);
    this.#startReady();
  }

  /** Notes that no record below `position` will be taken in any more. */
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
    if (task.owner !== undefined) this.#owners.release(task.owner);
    this.#finishTracked(task.tracked);
    const next = this.#lanes.finish(task);
    if (next !== undefined) {
      this.#waitingInLanes -= 1;
      this.#ready.push(next);
      this.#startReady();
    }
    this.#hooks.onFinished();
  }

  /** The point to commit; null when nothing changed since the last point was taken and `forced` is false. */
  commitPoint(forced: boolean): CommitPoint | null {
    if (!this.#changed && !forced) return null;
    const offset = this.#tracker.committableOffset;
    const said = {
      topicId: this.topicId ?? null,
      finishedRuns: this.#tracker.finishedRuns(MAX_METADATA_RUNS),
      state: this.#passedState?.encode() ?? null,
    };
    const metadata = encodeCommitMetadata(offset, said, this.#hooks.onTruncated);
    this.#changed = false;
    return { topic: this.topic, partition: this.partition, offset, metadata };
  }

  /** The brokers did not accept the last commit point: it is due again. */
  commitFailed(): void {
    this.#noteChange();
  }

  /** Ends the consumer because its handler failed. After the partition was given up, the failure has no effect. */
  fail(what: string, error: unknown): void {
    if (this.#revoked) return;
    const where = `${what} of ${this.topic} partition ${this.partition}`;
    this.#hooks.onFailure(
      error instanceof PosthasteError ? error : new PosthasteError("internal", `${where} failed`, { cause: error }),
    );
  }

  /** Notes the record in `#intakeState`. True when the record is a repeat (D2). */
  #noteIntake(noted: F): boolean {
    const state = this.#intakeState;
    if (state === null) return false;
    const isRepeat = state.isRepeat(noted);
    state.note(noted);
    return isRepeat;
  }

  /**
   * A loop, not a call from each `finish`: in a lane whose tasks finish as they start, the calls would overflow the
   * stack.
   */
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
}
