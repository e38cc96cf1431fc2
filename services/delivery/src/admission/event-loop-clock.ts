/**
 * The tick of admission, and how long this process's event loop was blocked while it ran (J6 of `admission.ts`).
 *
 * Owns: the timer of the tick. States: *stopped*, *running* from `run` until `stop`, *closed* for good after `close`.
 * B1  A tick passes on the time since the tick before, `LONGEST_TICK_MS` at the most: for the rest of a late tick the
 *     event loop was blocked, and this process saw no answers.
 * B2  The event loop counts as blocked for that rest of every tick so far, and for the rest that the next tick would
 *     have now. Time in which the clock is stopped counts as not blocked.
 */

const TICK_MS = 20;
const LONGEST_TICK_MS = 50;

export interface EventLoopClockOptions {
  readonly monotonicMs: () => number;
  /** Called at each tick, with the moment on the monotonic clock and the ms that passed (B1). */
  readonly onTick: (nowMs: number, passedMs: number) => void;
}

export class EventLoopClock {
  readonly #options: EventLoopClockOptions;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #tickedMs = 0;
  #blockedMs = 0;

  constructor(options: EventLoopClockOptions) {
    this.#options = options;
  }

  /** Starts the tick; does nothing while it runs. */
  run(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#tickedMs = this.#options.monotonicMs();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.stop();
  }

  /** For how many whole ms the event loop was blocked in all, up to `nowMs` of the monotonic clock (B2). */
  blockedMs(nowMs: number): number {
    if (this.#timer === undefined) return this.#blockedMs;
    return this.#blockedMs + Math.max(0, Math.floor(nowMs - this.#tickedMs - LONGEST_TICK_MS));
  }

  #tick(): void {
    const { monotonicMs, onTick } = this.#options;
    const nowMs = monotonicMs();
    const passedMs = Math.min(nowMs - this.#tickedMs, LONGEST_TICK_MS);
    this.#blockedMs = this.blockedMs(nowMs);
    this.#tickedMs = nowMs;
    onTick(nowMs, passedMs);
  }
}
