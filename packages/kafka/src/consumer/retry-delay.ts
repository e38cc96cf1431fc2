/**
 * Holds the head of one partition of a retry topic until it is due, without blocking other partitions (W1, W3).
 *
 * Owns: the times at which the partition's records were first known, and the timer of the head that waits.
 * - The records of a retry topic come due in the order of its log, so a head that is not due holds up no record that
 *   is.
 * HD2  A partition that waits costs its head's offset and times, and one timer.
 */
import { republishedAtMs } from "@posthaste/contracts/headers";
import type { Clock } from "@posthaste/core/time";
import { FirstKnown, msUntilDue } from "@posthaste/core/window/due-time";
import type { IncomingRecord } from "../wire/incoming-record.ts";

/**
 * Heads leave on a grid of time, so that records that come due together leave in one fetch: a fetch that releases one
 * record would bring a hundred others for nothing. The grid is a tenth of the delay, within the two limits, so that it
 * stays well below the second that a release may be late.
 */
const LONGEST_GRID_MS = 200;
const SHORTEST_GRID_MS = 10;
/**
 * A timer waits at most this long, in ms; a head that is due later is looked at again then. Node's timers end at 2^31
 * ms.
 */
const LONGEST_TIMER_MS = 60_000;

/** The head that waits. */
export interface WaitingHead {
  readonly offset: number;
  readonly appendedAtMs: number;
}

export class RetryDelay {
  readonly #delayMs: number;
  readonly #clock: Clock;
  readonly #onDue: () => void;
  readonly #gridMs: number;
  readonly #firstKnown: FirstKnown;
  #head: WaitingHead | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** `onDue` is called when the head that was held is to be looked at again. */
  constructor(delayMs: number, clock: Clock, onDue: () => void) {
    this.#delayMs = delayMs;
    this.#clock = clock;
    this.#onDue = onDue;
    this.#gridMs = Math.max(SHORTEST_GRID_MS, Math.min(LONGEST_GRID_MS, delayMs / 10));
    this.#firstKnown = new FirstKnown(Math.max(this.#gridMs, delayMs / 64));
  }

  /** The head that is held; null when there is none. */
  get head(): WaitingHead | null {
    return this.#head;
  }

  /** Notes an end offset of the partition. */
  noteEnd(end: number): void {
    this.#firstKnown.note(end, this.#clock.monotonicMs());
  }

  /** Ms until the record is due; 0 or less when it has been due for that long. */
  msUntilDue({ offset, timestampMs, headers }: Pick<IncomingRecord, "offset" | "timestampMs" | "headers">): number {
    const firstKnownMs = this.#firstKnown.of(offset) ?? this.#clock.monotonicMs();
    const written = { appendedAtMs: timestampMs, republishedAtMs: republishedAtMs(headers) };
    return msUntilDue({ ...written, delayMs: this.#delayMs, firstKnownMs }, this.#clock);
  }

  /** Holds a head that is due in `waitMs`. */
  hold(head: WaitingHead, waitMs: number): void {
    this.#head = head;
    clearTimeout(this.#timer);
    const onGrid = Math.ceil(waitMs / this.#gridMs) * this.#gridMs;
    this.#timer = setTimeout(() => this.#release(), Math.min(onGrid, LONGEST_TIMER_MS));
  }

  /** Forgets the head without calling `onDue`. */
  close(): void {
    clearTimeout(this.#timer);
    this.#head = null;
  }

  #release(): void {
    this.#head = null;
    this.#onDue();
  }
}
