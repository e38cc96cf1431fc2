/**
 * The time of a page in the process: it passes as a test says, and at no other moment.
 *
 * Owns: the timers that wait, in the order in which they are due.
 * - A timer sees the moment at which it is due, however far time is moved at once.
 * - Before each timer and after the last, all that the one before it began in the process has come to an end.
 */
const FRAME_MS = 1000 / 60;

interface Timer {
  readonly id: number;
  readonly act: () => void;
  dueMs: number;
  readonly everyMs: number | null;
}

type Act = (...given: readonly unknown[]) => void;

export interface VirtualTime {
  /** The replacements of a window's own functions, by their names. */
  readonly globals: Readonly<Record<string, unknown>>;
  /** What `performance.now` answers. */
  readonly sinceBeginMs: () => number;
  readonly nowMs: () => number;
  /** The clock shows another moment from now on, and goes on unless it `stands`. */
  readonly show: (atMs: number, stands: boolean) => void;
  /** Lets so much time pass. */
  readonly pass: (ms: number) => Promise<void>;
  /** Lets time pass until the next timer, `mostMs` at the most; returns how much it was. */
  readonly passNext: (mostMs: number) => Promise<number>;
  /** So much has passed, of which no timer was told: each that is due by then is due now, and once. */
  readonly jump: (ms: number) => void;
  /** Forgets the waiting timers. */
  readonly clear: () => void;
}

/** `settle`: waits until nothing is under way in the process. */
export function createVirtualTime(settle: () => Promise<void>): VirtualTime {
  const timers = new Map<number, Timer>();
  let passedMs = 0;
  let lastId = 0;
  let shown = { atMs: Date.now(), fromMs: 0, stands: false };
  const nowMs = (): number => Math.floor(shown.atMs + (shown.stands ? 0 : passedMs - shown.fromMs));
  const add = (act: () => void, delayMs: number, everyMs: number | null): number => {
    lastId += 1;
    timers.set(lastId, { id: lastId, act, dueMs: passedMs + Math.max(0, delayMs || 0), everyMs });
    return lastId;
  };
  const remove = (id: number | undefined): void => {
    if (id !== undefined) timers.delete(id);
  };
  const next = (): Timer | undefined => {
    let first: Timer | undefined;
    for (const each of timers.values()) if (first === undefined || each.dueMs < first.dueMs) first = each;
    return first;
  };
  const run = (timer: Timer): void => {
    passedMs = Math.max(passedMs, timer.dueMs);
    if (timer.everyMs === null) timers.delete(timer.id);
    else timer.dueMs = passedMs + Math.max(1, timer.everyMs);
    timer.act();
  };
  return {
    globals: {
      Date: dateBy(nowMs),
      setTimeout: (act: Act, ms = 0, ...given: unknown[]) => add(() => act(...given), ms, null),
      clearTimeout: remove,
      setInterval: (act: Act, ms = 0, ...given: unknown[]) => add(() => act(...given), ms, ms),
      clearInterval: remove,
      requestAnimationFrame: (act: (atMs: number) => void) => add(() => act(passedMs), FRAME_MS, null),
      cancelAnimationFrame: remove,
    },
    sinceBeginMs: () => passedMs,
    nowMs,
    show: (atMs, stands) => {
      shown = { atMs, fromMs: passedMs, stands };
    },
    pass: async (ms) => {
      const endMs = passedMs + ms;
      await settle();
      for (let timer = next(); timer !== undefined && timer.dueMs <= endMs; timer = next()) {
        run(timer);
        await settle();
      }
      passedMs = Math.max(passedMs, endMs);
    },
    passNext: async (mostMs) => {
      const beganMs = passedMs;
      const timer = next();
      if (timer === undefined || timer.dueMs > passedMs + mostMs) passedMs += mostMs;
      else run(timer);
      return passedMs - beganMs;
    },
    jump: (ms) => {
      passedMs += ms;
    },
    clear: () => timers.clear(),
  };
}

/** The process's own `Date`, but for the present moment. */
function dateBy(nowMs: () => number): DateConstructor {
  return new Proxy(Date, {
    construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [nowMs()] : given, made),
    apply: () => new Date(nowMs()).toString(),
    get: (target, name, receiver) => (name === "now" ? nowMs : Reflect.get(target, name, receiver)),
  });
}
