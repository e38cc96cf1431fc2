/**
 * How far the window of one partition is filled: to its limits, or with its share of the working set (C12), which is
 * enough to keep a busy process at work. Each record beyond that costs the process its caches and serves nobody, unless
 * something in the window holds up what stands behind it.
 *
 * Owns: which of the two it is, and what was seen at the last look.
 * WF1  While the process has time left, the window is filled to its limits; until the first look, with its share.
 * WF2  So it is while the process is busy, but records in the window are held up by something outside of it, or the
 *      lowest unfinished one stood still for `STILL_LOOKS` looks; and for `LINGER_LOOKS` looks after that.
 */

/** What the partitions of a consumer hold together while nothing holds them up. */
export interface WorkingSet {
  /** Records. Each owned partition has an equal share, `LEAST_SHARE` at least. */
  readonly records: number;
  /** Whether records of this owner wait for something outside of this process, so that others come by beside them. */
  readonly isHeldUp: (owner: string) => boolean;
  /** Whether this process had hardly any time left since it was asked last. */
  readonly isBusy: () => boolean;
}

/** What is asked of a window at a look. */
export interface FilledWindow {
  readonly records: number;
  readonly committableOffset: number;
  /** Whom its records belong to. */
  readonly owners: Iterable<string>;
}

const LEAST_SHARE = 32;
const STILL_LOOKS = 10;
const LINGER_LOOKS = 10;

/** The share of one partition, for all partitions of a consumer. */
export class WorkingSetShare {
  readonly #set: WorkingSet | undefined;
  #records: number;

  /** Without a working set all windows are filled to their limits. */
  constructor(set?: WorkingSet) {
    this.#set = set;
    this.#records = set?.records ?? Number.POSITIVE_INFINITY;
  }

  get records(): number {
    return this.#records;
  }

  /** So many partitions are owned now. */
  divide(partitions: number): void {
    if (this.#set === undefined) return;
    this.#records = Math.max(LEAST_SHARE, Math.floor(this.#set.records / Math.max(1, partitions)));
  }

  isHeldUp(owner: string): boolean {
    return this.#set?.isHeldUp(owner) ?? false;
  }
}

export class WindowFill {
  readonly #maxRecords: number;
  readonly #share: WorkingSetShare;
  #isWhole = false;
  #standsAt = -1;
  #stillLooks = 0;
  #lingering = 0;

  constructor(maxRecords: number, share: WorkingSetShare) {
    this.#maxRecords = maxRecords;
    this.#share = share;
  }

  /** With so many records nothing more is taken in. */
  get records(): number {
    return this.#isWhole ? this.#maxRecords : Math.min(this.#maxRecords, this.#share.records);
  }

  /** To be called every tenth of a second. `isBusy`: see `WorkingSet`. */
  look(window: FilledWindow, isBusy: boolean): void {
    this.#stillLooks = window.committableOffset === this.#standsAt ? this.#stillLooks + 1 : 0;
    this.#standsAt = window.committableOffset;
    if (!isBusy) this.#isWhole = true;
    else if (this.#holdsOthersUp(window)) {
      this.#isWhole = true;
      this.#lingering = LINGER_LOOKS;
    } else if (this.#lingering > 0) this.#lingering -= 1;
    else this.#isWhole = false;
  }

  /** A window below its share has room for whoever comes. */
  #holdsOthersUp({ records, owners }: FilledWindow): boolean {
    if (records < this.#share.records) return false;
    if (this.#stillLooks >= STILL_LOOKS) return true;
    for (const owner of owners) if (this.#share.isHeldUp(owner)) return true;
    return false;
  }
}
