/**
 * When a record of a retry topic is due (W1): its delay after it was written there, by two clocks that may each be
 * wrong.
 *
 * The broker dated the record, and whoever republished it said by its own clock when that was. Of the two moments the
 * later one counts, so that a broker whose clock is behind does not shorten the delay to nothing. A clock that is ahead
 * must not stall anything: a record waits no longer than its delay from the moment when it was first known here, by a
 * clock that does not step.
 *
 * Owns (FirstKnown): for offsets of one partition, when each was first known to exist.
 * DT1  An offset below an end offset that was seen at some moment existed at that moment, read or not. So one mark an
 *      end offset serves for all records behind a head that waits.
 * DT2  A merged mark keeps its later moment: it may release late, by a grain, and never early.
 */
import type { Clock } from "../time.ts";

export interface WaitingRecord {
  /** By the broker's clock. */
  readonly appendedAtMs: number;
  /** By the clock of the process that republished it, which stands in for ours; null for a record that does not say. */
  readonly republishedAtMs: number | null;
  readonly delayMs: number;
  /** By the monotonic clock. */
  readonly firstKnownMs: number;
}

/** Ms until the record is due; 0 or less when it is, by so much. */
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

  /** `grainMs`: ends that are seen within it share a mark. */
  constructor(grainMs: number) {
    this.#grainMs = grainMs;
  }

  /** The partition's end offset as it was seen at `atMs`; moments must not fall. */
  note(end: number, atMs: number): void {
    const last = this.#marks.at(-1);
    if (last === undefined) this.#marks.push({ end, atMs, openedAtMs: atMs });
    else if (end <= last.end) return;
    else if (atMs - last.openedAtMs < this.#grainMs) {
      last.end = end;
      last.atMs = atMs;
    } else this.#marks.push({ end, atMs, openedAtMs: atMs });
  }

  /** When the offset was first known, or undefined when it was not. Forgets what lies below it: ask in rising order. */
  of(offset: number): number | undefined {
    let passed = 0;
    while ((this.#marks[passed]?.end ?? Number.POSITIVE_INFINITY) <= offset) passed += 1;
    if (passed > 0) this.#marks = this.#marks.slice(passed);
    return this.#marks[0]?.atMs;
  }
}
