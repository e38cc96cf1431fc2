/**
 * How far the window of one partition is filled: to its limits, or to its share of the working set (C12). The share is
 * enough to keep a busy process at work. Records beyond it cost the process its caches and are of no use, unless
 * something in the window holds up the records behind it.
 *
 * Owns: the present state of the two, and the result of the last look. The window is
 * - *filled to its share* at first;
 * - *filled to its limits* from a look at which the process is not busy (WF1) or the window holds others up (WF2);
 * - *filled to its share* again from a look at which the process is busy and the window holds nobody up: at once after
 *   WF1, and after `LINGER_LOOKS` such looks after WF2.
 * WF1  While the process is not busy, the window is filled to its limits.
 * WF2  A window that holds its share or more holds others up when owners whose records wait for something outside the
 *      process have a quarter of a share, or when the committable offset has not moved for `STILL_LOOKS` looks.
 * WF3  A record that waits for another of its lane does not count here: however many records one key has, the share has
 *      space for other keys. The window's limits bound them all.
 */
import type { WorkingSet } from "./windowed-consumer.ts";

/** A window, as a look sees it. */
export interface FilledWindow {
  /** Unfinished records that wait for no other of their lane (WF3). */
  readonly records: number;
  readonly committableOffset: number;
  /** The owners of the window's records, each with the number of its records. */
  readonly owners: Iterable<{ readonly name: string; readonly records: number }>;
}

/** The part of a share that held up records must reach before the window counts as holding others up (WF2). */
const HELD_UP_PART = 0.25;
const STILL_LOOKS = 10;
const LINGER_LOOKS = 10;

/** The share of the working set that each partition of a consumer has. */
export class WorkingSetShare {
  readonly #set: WorkingSet | undefined;
  #records: number;

  /** Without a working set, windows are filled to their limits. */
  constructor(set?: WorkingSet) {
    this.#set = set;
    this.#records = set?.records ?? Number.POSITIVE_INFINITY;
  }

  get records(): number {
    return this.#records;
  }

  /** Divides the working set among the number of partitions that are owned now. */
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
  #isToLimits = false;
  #lastCommittable = -1;
  #stillLooks = 0;
  #lingerLooks = 0;

  constructor(maxRecords: number, share: WorkingSetShare) {
    this.#maxRecords = maxRecords;
    this.#share = share;
  }

  /** The number of records at which the window takes in no more. */
  get records(): number {
    return this.#isToLimits ? this.#maxRecords : Math.min(this.#maxRecords, this.#share.records);
  }

  /** Decides anew. Call it every tenth of a second; `isBusy` is the answer of the working set's `isBusy`. */
  look(window: FilledWindow, isBusy: boolean): void {
    const standsStill = window.records > 0 && window.committableOffset === this.#lastCommittable;
    this.#stillLooks = standsStill ? this.#stillLooks + 1 : 0;
    this.#lastCommittable = window.committableOffset;
    if (!isBusy) this.#isToLimits = true;
    else if (this.#holdsOthersUp(window)) {
      this.#isToLimits = true;
      this.#lingerLooks = LINGER_LOOKS;
    } else if (this.#lingerLooks > 0) this.#lingerLooks -= 1;
    else this.#isToLimits = false;
  }

  /** Whether the window holds others up (WF2). A window below its share has space for whatever comes. */
  #holdsOthersUp({ records, owners }: FilledWindow): boolean {
    if (records < this.#share.records) return false;
    if (this.#stillLooks >= STILL_LOOKS) return true;
    let heldUp = 0;
    for (const owner of owners) {
      if (this.#share.isHeldUp(owner.name)) heldUp += owner.records;
      if (heldUp >= this.#share.records * HELD_UP_PART) return true;
    }
    return false;
  }
}
