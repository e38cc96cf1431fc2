/**
 * How far the window of one partition is filled: to its limits, or with its share of the working set (C12), which is
 * enough to keep a busy process at work. Each record beyond that costs the process its caches and serves nobody, unless
 * something in the window holds up what stands behind it.
 *
 * Owns: which of the two it is, and what was seen at the last look.
 * WF1  While the process has time left, the window is filled to its limits; until the first look, with its share.
 * WF2  So it is while the process is busy, but a quarter of a share is held up by something outside of it, or the
 *      lowest unfinished record stood still for `STILL_LOOKS` looks; and for `LINGER_LOOKS` looks after that.
 * WF3  A record that waits for another of its lane counts for nothing here: however many come of one key, the share has
 *      room for other keys. The limits bound them all.
 */
import type { WorkingSet } from "./windowed-consumer.ts";

/** What is asked of a window at a look. */
export interface FilledWindow {
  /** Records that are not finished and wait for no other of their lane (WF3). */
  readonly records: number;
  readonly committableOffset: number;
  /** How many of its records belong to whom. */
  readonly owners: Iterable<{ readonly name: string; readonly records: number }>;
}

/** Part of a share. */
const MUCH = 0.25;
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
    const { records, leastShare } = this.#set;
    this.#records = Math.max(leastShare, Math.floor(records / Math.max(1, partitions)));
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
    const standsStill = window.records > 0 && window.committableOffset === this.#standsAt;
    this.#stillLooks = standsStill ? this.#stillLooks + 1 : 0;
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
    let heldUp = 0;
    for (const owner of owners) {
      if (this.#share.isHeldUp(owner.name)) heldUp += owner.records;
      if (heldUp >= this.#share.records * MUCH) return true;
    }
    return false;
  }
}
