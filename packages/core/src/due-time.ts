/**
 * When a record of a retry topic is due (W1): its append time plus the topic's delay, but never later than the moment it
 * was first known here plus the delay, by a clock that does not step. A broker's clock that steps stalls nothing.
 *
 * Owns (FirstKnown): for offsets of one partition, when each was first known to exist.
 * F1  An offset below an end offset that was seen at some moment existed at that moment, read or not. So one mark an
 *     end offset serves for all records behind a head that waits.
 * F2  A merged mark keeps its later moment: it may release late, by a grain, and never early.
 */
import type { Clock } from "./time.ts";

export interface WaitingRecord {
  readonly appendedAtMs: number;
  readonly delayMs: number;
  /** By the monotonic clock. */
  readonly firstKnownMs: number;
}

/** Ms until the record is due; 0 or less when it is, by so much. */
export function msUntilDue({ appendedAtMs, delayMs, firstKnownMs }: WaitingRecord, clock: Clock): number {
  return Math.min(appendedAtMs + delayMs - clock.nowMs(), firstKnownMs + delayMs - clock.monotonicMs());
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
