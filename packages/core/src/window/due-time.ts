/**
 * When a record of a retry topic is due (W1): its delay after it was written, by two clocks either of which may be
 * wrong.
 *
 * The broker dates the record, and a header has the moment at which a process republished it, by that process's clock.
 * The later of the two counts, so that a broker whose clock is behind does not shorten the delay to nothing. A clock
 * that is ahead must not stall the record either: the record waits at most its delay from the moment at which this
 * process first knew of it, by the monotonic clock.
 *
 * `FirstKnown` owns: for the offsets of one partition, when this process first knew that each existed.
 * DT1  An end offset that was seen at some moment proves that every lower offset existed then, read or not. So one mark
 *      for each end offset serves all records behind the head of the partition.
 * DT2  A mark that merges several end offsets has the moment of the last: it may release a record late, by `grainMs` at
 *      the most, and never early.
 */
import type { Clock } from "../time.ts";

export interface WaitingRecord {
  /** The record's timestamp, by the broker's clock, in ms since the epoch. */
  readonly appendedAtMs: number;
  /** When it was republished, by the clock of the process that did; null for a record that does not say. */
  readonly republishedAtMs: number | null;
  readonly delayMs: number;
  /** When this process first knew of it, by the monotonic clock. */
  readonly firstKnownMs: number;
}

/** Ms until the record is due; 0 or less once it is. */
export function msUntilDue(record: WaitingRecord, clock: Clock): number {
  const { appendedAtMs, republishedAtMs, delayMs, firstKnownMs } = record;
  const writtenAtMs = Math.max(appendedAtMs, republishedAtMs ?? appendedAtMs);
  return delayMs + Math.min(writtenAtMs - clock.nowMs(), firstKnownMs - clock.monotonicMs());
}

interface Mark {
  /** Offsets below it existed at `atMs`. */
  end: number;
  atMs: number;
  readonly openedAtMs: number;
}

export class FirstKnown {
  readonly #grainMs: number;
  #marks: Mark[] = [];

  /** `grainMs`: end offsets that are seen within this time of one another share a mark. */
  constructor(grainMs: number) {
    this.#grainMs = grainMs;
  }

  /** Notes the partition's end offset as it was seen at `atMs`. Moments must not fall from call to call. */
  note(end: number, atMs: number): void {
    const last = this.#marks.at(-1);
    if (last === undefined) this.#marks.push({ end, atMs, openedAtMs: atMs });
    else if (end <= last.end) return;
    else if (atMs - last.openedAtMs < this.#grainMs) {
      last.end = end;
      last.atMs = atMs;
    } else this.#marks.push({ end, atMs, openedAtMs: atMs });
  }

  /**
   * When this process first knew of the offset; undefined when it does not. Forgets every lower offset, so that callers
   * ask in rising order.
   */
  of(offset: number): number | undefined {
    let passed = 0;
    while ((this.#marks[passed]?.end ?? Number.POSITIVE_INFINITY) <= offset) passed += 1;
    if (passed > 0) this.#marks = this.#marks.slice(passed);
    return this.#marks[0]?.atMs;
  }
}
