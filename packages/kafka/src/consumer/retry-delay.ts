/**
 * Waiting without blocking: holds the head of one retry partition until it is due (W1, W3).
 *
 * Owns: when the partition's records were first known, and the timer of the head that waits.
 * HD1  The records of a retry topic come due in the order of its log, so a head that is not due holds up nothing that
 *      is.
 * HD2  Of a partition that waits only the head's offset and times are kept, and one timer.
 */
import { republishedAtMs } from "@posthaste/contracts/headers";
import type { Clock } from "@posthaste/core/time";
import { FirstKnown, msUntilDue } from "@posthaste/core/window/due-time";
import type { IncomingRecord } from "../wire/incoming-record.ts";

/**
 * Heads are released on a grid, so that records which come due together leave in one fetch: a fetch that releases one
 * record brings a hundred others for nothing. A tenth of the delay at the most, within the second that a release may be
 * late.
 */
const LONGEST_GRAIN_MS = 200;
const SHORTEST_GRAIN_MS = 10;
/** Longest that a timer is set for; what is due later is looked at again then (a timer holds 2^31 ms at the most). */
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
  readonly #grainMs: number;
  readonly #firstKnown: FirstKnown;
  #head: WaitingHead | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** `onDue` is called when a head that was held should be looked at again. */
  constructor(delayMs: number, clock: Clock, onDue: () => void) {
    this.#delayMs = delayMs;
    this.#clock = clock;
    this.#onDue = onDue;
    this.#grainMs = Math.max(SHORTEST_GRAIN_MS, Math.min(LONGEST_GRAIN_MS, delayMs / 10));
    this.#firstKnown = new FirstKnown(Math.max(this.#grainMs, delayMs / 64));
  }

  /** The head that is held, or null. */
  get head(): WaitingHead | null {
    return this.#head;
  }

  /** The partition's end offset was seen. */
  noteEnd(end: number): void {
    this.#firstKnown.note(end, this.#clock.monotonicMs());
  }

  /** Ms until the record is due; 0 or less: it is, by so much. */
  msUntilDue({ offset, timestampMs, headers }: Pick<IncomingRecord, "offset" | "timestampMs" | "headers">): number {
    const firstKnownMs = this.#firstKnown.of(offset) ?? this.#clock.monotonicMs();
    const written = { appendedAtMs: timestampMs, republishedAtMs: republishedAtMs(headers) };
    return msUntilDue({ ...written, delayMs: this.#delayMs, firstKnownMs }, this.#clock);
  }

  /** Holds a head that is due in `waitMs`. */
  hold(head: WaitingHead, waitMs: number): void {
    this.#head = head;
    clearTimeout(this.#timer);
    const onGrid = Math.ceil(waitMs / this.#grainMs) * this.#grainMs;
    this.#timer = setTimeout(() => this.#release(), Math.min(onGrid, LONGEST_TIMER_MS));
  }

  /** Forgets the head, without a call of `onDue`. */
  close(): void {
    clearTimeout(this.#timer);
    this.#head = null;
  }

  #release(): void {
    this.#head = null;
    this.#onDue();
  }
}
