/**
 * Which offset of a partition may be committed while its records finish in any order (C1), and which runs of offsets
 * above it are finished.
 *
 * Owns: the unfinished entries in offset order, the finished run between each entry and the next, and the runs that an
 * earlier owner of the partition had finished.
 * - Entries come in rising offset order. Offsets may be missing between them (compaction, transaction markers): a
 *   missing offset holds nothing up (C9).
 * OT2  The committable offset is the lowest unfinished entry's offset, or the position when there is none. It never
 *      falls.
 * OT3  The tracker passes an entry's note to `onPassed` once, when every entry up to it is finished: the entry then
 *      lies below the committable offset, and a state that is saved with that offset must cover it (D3). Notes may be
 *      passed in any order, and `condense` may leave out those that others make needless.
 * OT4  A run that an earlier owner finished is reported until its offsets have been read again, so that no commit
 *      forgets it.
 * OT5  A finished entry leaves nothing but its note: memory grows with the unfinished entries and with the notes that
 *      differ, and not with the span of offsets.
 */

/** An unfinished record. Its links and `finished` are the tracker's to set. */
export class TrackedOffset<N> {
  readonly offset: number;
  /** When it was appended, ms since the epoch. */
  readonly timestampMs: number;
  /** The value for `onPassed` once the entry is passed (OT3); undefined for none. */
  readonly note: N | undefined;
  /** Whom the record belongs to; undefined for nobody. */
  readonly owner: string | undefined;
  finished = false;
  below: TrackedOffset<N> | undefined = undefined;
  above: TrackedOffset<N> | undefined = undefined;
  /** The finished run between it and the next unfinished entry. */
  finishedAbove: Finished<N> | undefined = undefined;

  constructor(offset: number, timestampMs: number, note: N | undefined, owner?: string) {
    this.offset = offset;
    this.timestampMs = timestampMs;
    this.note = note;
    this.owner = owner;
  }
}

/** A run of finished offsets, with the notes of its entries. */
interface Finished<N> {
  from: number;
  to: number;
  notes: N[];
  /** How many notes were left when they were condensed last. */
  condensed: number;
}

/** Offsets from `from` up to, not including, `to`. */
export interface OffsetRun {
  readonly from: number;
  readonly to: number;
}

export interface OffsetTrackerOptions<N> {
  /**
   * Runs above the position that an earlier owner of the partition had finished: in rising order, none touching the
   * next.
   */
  readonly finishedBefore?: readonly OffsetRun[];
  /** OT3. */
  readonly onPassed?: (note: N) => void;
  /** Picks from the notes of one run those that suffice; without it the tracker keeps all. */
  readonly condense?: ((notes: readonly N[]) => N[]) | undefined;
}

/**
 * The notes of a run are condensed once they are this many, and again whenever they have doubled since the last time.
 */
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

  /** The offset above the highest that was added or skipped. */
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

  /** True when an earlier owner had finished the offset. Ask in rising order, before the offset is added. */
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

  /** Says that nothing will be added below `position`: the log has no records there, or none that this group reads. */
  skipTo(position: number): void {
    if (position > this.#position) this.#position = position;
  }

  /** Marks an added entry as finished; a second call changes nothing. */
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
   * The finished runs above the committable offset, in rising order, with an unfinished entry between any two: the
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

  /** Joins a finished entry, and the run above it, to the run above the unfinished entry below it. */
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
