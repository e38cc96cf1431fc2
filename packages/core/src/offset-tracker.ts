/**
 * Which offset of a partition may be committed while its records finish in any order (C1), and what is finished above it.
 *
 * Owns: the entries from the lowest unfinished one up, in offset order, and what an earlier owner had finished.
 * T1  Entries come in rising offset order. Offsets may be missing between them (compaction, markers): what was never there
 *     holds nothing up (C9).
 * T2  The committable offset is that of the lowest unfinished entry, or the position when there is none. It never falls.
 * T3  An entry is passed once, in offset order, when everything up to it is finished: that is what lies below the
 *     committable offset, and what a state saved with it must cover (D3).
 * T4  Runs that an earlier owner finished stay reported until they were read again, so that no commit forgets them.
 */

/** A record as the tracker sees it. `finished` is the tracker's to set. */
export interface Tracked {
  readonly offset: number;
  finished: boolean;
}

/** Offsets from `from` up to, not including, `to`. */
export interface OffsetRun {
  readonly from: number;
  readonly to: number;
}

/** Passed entries are cut from the front of the array when they are so many and half of it: a cut costs a copy of the rest. */
const CUT_AFTER = 1024;

export class OffsetTracker<E extends Tracked> {
  readonly #onPassed: (entry: E) => void;
  readonly #finishedBefore: readonly OffsetRun[];
  /** Passed entries are undefined, up to `#first`. */
  #entries: (E | undefined)[] = [];
  #first = 0;
  #position: number;
  /** The first of `#finishedBefore` that does not lie wholly below the position. */
  #nextRun = 0;
  /** Entries that were cut from the front. */
  #cut = 0;
  /** Runs of finished entries as they were found last, by place from the first entry ever: what is finished stays so. */
  #knownRuns: readonly OffsetRun[] = [];

  /** `finishedBefore`: runs above `position`, rising and apart, that were finished before this tracker began. */
  constructor(
    position: number,
    finishedBefore: readonly OffsetRun[] = [],
    onPassed: (entry: E) => void = () => undefined,
  ) {
    this.#position = position;
    this.#finishedBefore = finishedBefore;
    this.#onPassed = onPassed;
  }

  /** One above the highest offset that was added or skipped to. */
  get position(): number {
    return this.#position;
  }

  get committableOffset(): number {
    return this.#entries[this.#first]?.offset ?? this.#position;
  }

  /** The lowest unfinished entry. */
  get lowest(): E | undefined {
    return this.#entries[this.#first];
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
  add(entry: E): void {
    if (entry.offset < this.#position) {
      throw new RangeError(`offset ${entry.offset} was added after ${this.#position - 1}`);
    }
    this.#entries.push(entry);
    this.#position = entry.offset + 1;
  }

  /** Nothing will be added below `position`: the records there are no more, or are none of ours. */
  skipTo(position: number): void {
    if (position > this.#position) this.#position = position;
  }

  /** Marks an added entry; again is no change. */
  finish(entry: E): void {
    entry.finished = true;
    while (this.#entries[this.#first]?.finished) this.#pass();
  }

  /**
   * What is finished above the committable offset: rising runs, apart from one another by something unfinished; the lowest
   * `most` of them. Costs what was added since it was asked last, what is unfinished and the runs, not what they hold.
   */
  finishedRuns(most: number = Number.POSITIVE_INFINITY): OffsetRun[] {
    const places = this.#findRuns(most);
    this.#knownRuns = places;
    const runs = places.map(({ from, to }) => ({ from: this.#offsetAt(from), to: this.#offsetAt(to - 1) + 1 }));
    for (let index = this.#nextRun; index < this.#finishedBefore.length && runs.length < most; index += 1) {
      const run = this.#finishedBefore[index];
      if (run === undefined || run.to <= this.#position) continue;
      runs.push({ from: Math.max(run.from, this.#position), to: run.to });
    }
    return runs;
  }

  /** The lowest `most` runs of finished entries, by place; a run that is known is stepped over. */
  #findRuns(most: number): OffsetRun[] {
    const runs: OffsetRun[] = [];
    const end = this.#cut + this.#entries.length;
    let known = 0;
    let from = -1;
    let place = this.#cut + this.#first;
    for (; place < end && runs.length < most; place += 1) {
      while ((this.#knownRuns[known]?.to ?? end) <= place) known += 1;
      const run = this.#knownRuns[known];
      const isKnown = run !== undefined && run.from <= place;
      if (isKnown || this.#entries[place - this.#cut]?.finished === true) {
        if (from < 0) from = place;
        if (isKnown) place = run.to - 1;
      } else if (from >= 0) {
        runs.push({ from, to: place });
        from = -1;
      }
    }
    if (from >= 0 && runs.length < most) runs.push({ from, to: end });
    return runs;
  }

  #offsetAt(place: number): number {
    return this.#entries[place - this.#cut]?.offset ?? this.#position;
  }

  #pass(): void {
    const entry = this.#entries[this.#first];
    if (entry === undefined) return;
    this.#entries[this.#first] = undefined;
    this.#first += 1;
    if (this.#first >= CUT_AFTER && this.#first * 2 >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#cut += this.#first;
      this.#first = 0;
    }
    this.#onPassed(entry);
  }
}
