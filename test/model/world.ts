/**
 * Simulated time: one queue of timers for everything that a run does, in place of the global timers and clocks.
 *
 * Owns: the moment that it is, the timers, and the globals between `install` and `restore`.
 * - One timer runs at a time, and everything that it settles runs to its end before the next: a run is its seed's
 *   alone.
 * WD2  A timer belongs to the process that was running when it was set, and dies with it. So do the waits of that
 *      process. A wait by `node:timers/promises` is outside of the world: the code under test uses the global timers.
 * - The monotonic clock is the world's; a process's time of day is off by its own `clockOffsetMs`.
 */

/** The owner of the timers. */
export interface TimerOwner {
  readonly isAlive: boolean;
  readonly clockOffsetMs: number;
}

/** A timer, and the result of `setTimeout`: the few members that the code under test uses. */
class Timer {
  atMs: number;
  order: number;
  readonly owner: TimerOwner | null;
  readonly run: () => void;
  /** Null for one that runs once. */
  readonly everyMs: number | null;
  isCancelled = false;

  constructor(atMs: number, order: number, owner: TimerOwner | null, run: () => void, everyMs: number | null) {
    this.atMs = atMs;
    this.order = order;
    this.owner = owner;
    this.run = run;
    this.everyMs = everyMs;
  }

  unref(): this {
    return this;
  }
}

const GLOBALS = ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] as const;
/** The time of day when a run begins: any day will do, the same for all runs. */
const START_OF_DAY_MS = 1_750_000_000_000;
const TURNS_TO_BEGIN = 8;
const settleAll = setImmediate;

export class World {
  #nowMs = 0;
  #order = 0;
  #steps = 0;
  /** A binary heap, earliest first. */
  readonly #heap: Timer[] = [];
  #running: TimerOwner | null = null;
  #restore: (() => void) | null = null;
  /** Told of the error that a timer's callback throws. */
  readonly #onThrown: (error: unknown) => void;

  constructor(onThrown: (error: unknown) => void) {
    this.#onThrown = onThrown;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Timers that ran. */
  get steps(): number {
    return this.#steps;
  }

  /** The time of day without anybody's error. */
  get dayMs(): number {
    return START_OF_DAY_MS + this.#nowMs;
  }

  /** Runs `act` in `delayMs`, on behalf of `owner`; null is nobody that could die. */
  after(delayMs: number, owner: TimerOwner | null, act: () => void): void {
    this.#set(delayMs, owner, act, null);
  }

  /** Runs `act` now on behalf of `owner`: the timers that it sets are that owner's. */
  runAs<R>(owner: TimerOwner | null, act: () => R): R {
    const before = this.#running;
    this.#running = owner;
    try {
      return act();
    } finally {
      this.#running = before;
    }
  }

  /** Runs the due timers until `untilMs`, or until `isOver` says so after a timer. */
  async run(untilMs: number, isOver: () => boolean): Promise<void> {
    // Steps begun before the first timer settle first.
    await settled();
    for (let timer = this.#heap[0]; timer !== undefined && timer.atMs <= untilMs; timer = this.#heap[0]) {
      this.#pop();
      if (timer.isCancelled || timer.owner?.isAlive === false) continue;
      this.#nowMs = Math.max(this.#nowMs, timer.atMs);
      this.#steps += 1;
      this.#running = timer.owner;
      if (timer.everyMs !== null) this.#repeat(timer, timer.everyMs);
      const order = this.#order;
      try {
        timer.run();
      } catch (error) {
        this.#onThrown(error);
      }
      if (timer.everyMs === null || (await this.#hasBegun(order))) await settled();
      this.#running = null;
      if (isOver()) return;
    }
    this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  /** Puts the world's timers and clocks in place of the global ones. */
  install(): void {
    const before = GLOBALS.map((name) => [name, Reflect.get(globalThis, name)] as const);
    const dateNow = Date.now;
    const performanceNow = performance.now;
    const set =
      (everyMs: (delayMs: number) => number | null) =>
      (act: () => void, delayMs = 0) =>
        this.#set(Math.max(1, delayMs), this.#running, act, everyMs(Math.max(1, delayMs)));
    const clear = (handle: unknown) => {
      if (handle instanceof Timer) handle.isCancelled = true;
    };
    Reflect.set(
      globalThis,
      "setTimeout",
      set(() => null),
    );
    Reflect.set(
      globalThis,
      "setInterval",
      set((delayMs) => delayMs),
    );
    Reflect.set(globalThis, "clearTimeout", clear);
    Reflect.set(globalThis, "clearInterval", clear);
    Date.now = () => Math.floor(this.dayMs + (this.#running?.clockOffsetMs ?? 0));
    performance.now = () => this.#nowMs;
    this.#restore = () => {
      for (const [name, value] of before) Reflect.set(globalThis, name, value);
      Date.now = dateNow;
      performance.now = performanceNow;
    };
  }

  restore(): void {
    this.#restore?.();
    this.#restore = null;
  }

  /**
   * Whether a tick of a repeated timer began anything: it sets a timer then, at once or a few promises on. Most find
   * nothing to do, and are a third of all steps.
   */
  async #hasBegun(order: number): Promise<boolean> {
    for (let turn = 0; turn < TURNS_TO_BEGIN && this.#order === order; turn += 1) await null;
    return this.#order !== order;
  }

  #set(delayMs: number, owner: TimerOwner | null, run: () => void, everyMs: number | null): Timer {
    const timer = new Timer(this.#nowMs + delayMs, this.#order++, owner, run, everyMs);
    this.#push(timer);
    return timer;
  }

  #repeat(timer: Timer, everyMs: number): void {
    timer.atMs = this.#nowMs + everyMs;
    timer.order = this.#order++;
    this.#push(timer);
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isEarlier(timer, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = timer;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left === undefined) break;
      let least = left;
      if (right !== undefined && isEarlier(right, left)) {
        child += 1;
        least = right;
      }
      if (!isEarlier(least, last)) break;
      heap[at] = least;
      at = child;
    }
    heap[at] = last;
  }
}

function isEarlier(a: Timer, b: Timer): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/** Resolves when every promise that can settle has. */
function settled(): Promise<void> {
  return new Promise((resolve) => settleAll(resolve));
}
