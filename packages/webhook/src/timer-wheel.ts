/**
 * A coarse timer wheel, which serves many deadlines with a single timer.
 *
 * Owns an interval that runs only while an entry waits and does not keep the process alive. Invariants:
 *  WH1  No entry fires before its time. It fires at most two ticks after it, unless the event loop is blocked.
 *  WH2  After the event loop was blocked, the process reads answers that came meanwhile before any entry fires: the
 *       receiver must not be blamed for a deadline that passed because *we* were busy. The wheel waits one tick for it.
 *  WH3  Adding and removing an entry cost the same however many wait: a slot is a ring of its entries.
 */
import type { Clock } from "@posthaste/core/time";

const TICK_MS = 50;

/** When more ticks than these pass between two calls, the event loop was blocked. */
const LATE_TICKS = 3;

/** An entry of a wheel. It is its own place in the ring, so that a timer needs no further object. */
export abstract class Timed {
  /** The entry's neighbours in the ring, for the wheel alone; an entry that does not wait is its own neighbour. */
  ringPrevious: Timed = this;
  ringNext: Timed = this;
  dueTick = 0;

  abstract onTimeout(): void;

  get isWaiting(): boolean {
    return this.ringNext !== this;
  }
}

class Slot extends Timed {
  onTimeout(): void {}
}

export class TimerWheel {
  readonly #clock: Clock;
  readonly #slots: readonly Slot[];
  #interval: NodeJS.Timeout | null = null;
  /** The last tick for which the wheel looked at a slot. */
  #tick = 0;
  #wasLate = false;
  #size = 0;

  /** `longestMs` is the longest delay to expect. The wheel looks at an entry with a longer delay once a round. */
  constructor(clock: Clock, longestMs: number) {
    this.#clock = clock;
    this.#slots = Array.from({ length: Math.ceil(longestMs / TICK_MS) + 4 }, () => new Slot());
  }

  get size(): number {
    return this.#size;
  }

  /** Starts an entry's time, or starts it again. */
  add(entry: Timed, delayMs: number): void {
    this.remove(entry);
    const nowMs = this.#clock.monotonicMs();
    if (this.#interval === null) this.#start(nowMs);
    entry.dueTick = Math.floor((nowMs + delayMs) / TICK_MS) + 1;
    const slot = this.#slotAt(entry.dueTick);
    entry.ringPrevious = slot.ringPrevious;
    entry.ringNext = slot;
    slot.ringPrevious.ringNext = entry;
    slot.ringPrevious = entry;
    this.#size += 1;
  }

  remove(entry: Timed): void {
    if (!entry.isWaiting) return;
    entry.ringPrevious.ringNext = entry.ringNext;
    entry.ringNext.ringPrevious = entry.ringPrevious;
    entry.ringPrevious = entry;
    entry.ringNext = entry;
    this.#size -= 1;
  }

  /** Returns all entries that wait, in no particular order. */
  waiting(): readonly Timed[] {
    return this.#slots.flatMap(entriesOf);
  }

  #start(nowMs: number): void {
    this.#tick = Math.floor(nowMs / TICK_MS);
    this.#interval = setInterval(() => this.#advance(), TICK_MS);
    this.#interval.unref();
  }

  #advance(): void {
    if (this.#size === 0) {
      clearInterval(this.#interval ?? undefined);
      this.#interval = null;
      return;
    }
    const nowTick = Math.floor(this.#clock.monotonicMs() / TICK_MS);
    if (nowTick - this.#tick > LATE_TICKS && !this.#wasLate) {
      this.#wasLate = true;
      return;
    }
    this.#wasLate = false;
    // After a long block the wheel looks at every slot once; `dueTick` says which entries are due.
    const first = Math.max(this.#tick + 1, nowTick - this.#slots.length + 1);
    this.#tick = nowTick;
    for (let tick = first; tick <= nowTick; tick += 1) {
      for (const entry of entriesOf(this.#slotAt(tick))) {
        // An entry that fired before this one may have removed it, or started its time again.
        if (!entry.isWaiting || entry.dueTick > nowTick) continue;
        this.remove(entry);
        entry.onTimeout();
      }
    }
  }

  #slotAt(tick: number): Slot {
    const slot = this.#slots[tick % this.#slots.length];
    if (slot === undefined) throw new RangeError(`no slot for tick ${tick}`);
    return slot;
  }
}

function entriesOf(slot: Slot): readonly Timed[] {
  const entries: Timed[] = [];
  for (let entry = slot.ringNext; entry !== slot; entry = entry.ringNext) entries.push(entry);
  return entries;
}
