/**
 * Which offset of a partition may be committed while its records finish in any order (C1), and what is finished above
 * it.
 *
 * Owns: the unfinished entries in offset order, what is finished between each and the next, and what an earlier owner
 * had finished.
 * OT1  Entries come in rising offset order. Offsets may be missing between them (compaction, markers): what was never
 *      there holds nothing up (C9).
 * OT2  The committable offset is that of the lowest unfinished entry, or the position when there is none. It never
 *      falls.
 * OT3  An entry's note is passed once, when everything up to it is finished: that is what lies below the committable
 *      offset, and what a state saved with it must cover (D3). Notes that others make needless are left out; the rest
 *      comes in any order.
 * OT4  Runs that an earlier owner finished stay reported until they were read again, so that no commit forgets them.
 * OT5  A finished entry keeps nothing but its note: memory follows what is unfinished and what notes differ, not the
 *      span.
 */

/** A record while it is unfinished. Its links and its mark are the tracker's to set. */
export class TrackedOffset<N> {
  readonly offset: number;
  /** When it was appended, ms since the epoch. */
  readonly timestampMs: number;
  /** What is to be told when it is passed; undefined for nothing. */
  readonly note: N | undefined;
  finished = false;
  below: TrackedOffset<N> | undefined = undefined;
  above: TrackedOffset<N> | undefined = undefined;
  /** What is finished between it and the next unfinished entry. */
  finishedAbove: Finished<N> | undefined = undefined;

  constructor(offset: number, timestampMs: number, note: N | undefined) {
    this.offset = offset;
    this.timestampMs = timestampMs;
    this.note = note;
  }
}

/** Finished offsets without an unfinished one among them. */
interface Finished<N> {
  from: number;
  to: number;
  notes: N[];
  /** Notes that there were after they were condensed last. */
  condensed: number;
}

/** Offsets from `from` up to, not including, `to`. */
export interface OffsetRun {
  readonly from: number;
  readonly to: number;
}

export interface OffsetTrackerOptions<N> {
  /** Runs above the position, rising and apart, that were finished before this tracker began. */
  readonly finishedBefore?: readonly OffsetRun[];
  /** OT3. */
  readonly onPassed?: (note: N) => void;
  /** Of notes of one run those that suffice; without it all are kept. */
  readonly condense?: ((notes: readonly N[]) => N[]) | undefined;
}

/** Notes of a run are condensed when they are twice as many as the last time left, and not before there are so many. */
const CONDENSE_FROM = 32;

export class OffsetTracker<N> {
  readonly #onPassed: (note: N) => void;
  readonly #condense: ((notes: readonly N[]) => N[]) | undefined;
  readonly #finishedBefore: readonly OffsetRun[];
  /** The first of `#finishedBefore` that does not lie wholly below the position. */
  #nextRun = 0;
  #lowest: TrackedOffset<N> | undefined;
  #highest: TrackedOffset<N> | undefined;
  #position: number;

  constructor(position: number, options: OffsetTrackerOptions<N> = {}) {
    this.#position = position;
    this.#finishedBefore = options.finishedBefore ?? [];
    this.#onPassed = options.onPassed ?? (() => undefined);
    this.#condense = options.condense;
  }

  /** One above the highest offset that was added or skipped to. */
  get position(): number {
    return this.#position;
  }

  get committableOffset(): number {
    return this.#lowest?.offset ?? this.#position;
  }

  /** The lowest unfinished entry. */
  get lowest(): TrackedOffset<N> | undefined {
    return this.#lowest;
  }

  /** True when the offset was finished before this tracker began. Ask in rising order, before the offset is added. */
  wasFinishedBefore(offset: number): boolean {
    let run = this.#finishedBefore[this.#nextRun];
    while (run !== undefined && run.to <= offset) {
      this.#nextRun += 1;
      run = this.#finishedBefore[this.#nextRun];
    }
    return run !== undefined && run.from <= offset;
  }

  /** Throws RangeError for an offset below the position. */
  add(entry: TrackedOffset<N>): void {
    if (entry.offset < this.#position) {
      throw new RangeError(`offset ${entry.offset} was added after ${this.#position - 1}`);
    }
    this.#position = entry.offset + 1;
    entry.below = this.#highest;
    if (this.#highest === undefined) this.#lowest = entry;
    else this.#highest.above = entry;
    this.#highest = entry;
  }

  /** Nothing will be added below `position`: the records there are no more, or are none of ours. */
  skipTo(position: number): void {
    if (position > this.#position) this.#position = position;
  }

  /** Marks an added entry; again is no change. */
  finish(entry: TrackedOffset<N>): void {
    if (entry.finished) return;
    entry.finished = true;
    const { below, above, finishedAbove } = entry;
    if (above === undefined) this.#highest = below;
    else above.below = below;
    if (below !== undefined) {
      below.above = above;
      this.#keep(below, entry);
      return;
    }
    this.#lowest = above;
    if (entry.note !== undefined) this.#onPassed(entry.note);
    for (const note of finishedAbove?.notes ?? []) this.#onPassed(note);
  }

  /**
   * What is finished above the committable offset: rising runs, apart from one another by something unfinished; the
   * lowest `most` of them.
   */
  finishedRuns(most: number = Number.POSITIVE_INFINITY): OffsetRun[] {
    const runs: OffsetRun[] = [];
    for (let entry = this.#lowest; entry !== undefined && runs.length < most; entry = entry.above) {
      const { finishedAbove } = entry;
      if (finishedAbove !== undefined) runs.push({ from: finishedAbove.from, to: finishedAbove.to });
    }
    for (let index = this.#nextRun; index < this.#finishedBefore.length && runs.length < most; index += 1) {
      const run = this.#finishedBefore[index];
      if (run === undefined || run.to <= this.#position) continue;
      runs.push({ from: Math.max(run.from, this.#position), to: run.to });
    }
    return runs;
  }

  /**
   * A finished entry, and what is finished above it, becomes a part of what is finished above the unfinished one below
   * it.
   */
  #keep(below: TrackedOffset<N>, { offset, note, finishedAbove }: TrackedOffset<N>): void {
    const lower = below.finishedAbove ?? { from: offset, to: offset, notes: [], condensed: 0 };
    lower.to = finishedAbove?.to ?? offset + 1;
    below.finishedAbove = lower;
    let [most, fewest] = [lower.notes, finishedAbove?.notes ?? []];
    if (most.length < fewest.length) [most, fewest] = [fewest, most];
    for (const each of fewest) most.push(each);
    if (note !== undefined) most.push(note);
    lower.notes = most;
    lower.condensed = Math.max(lower.condensed, finishedAbove?.condensed ?? 0);
    if (this.#condense === undefined || most.length < Math.max(CONDENSE_FROM, 2 * lower.condensed)) return;
    lower.notes = this.#condense(most);
    lower.condensed = lower.notes.length;
  }
}
