/**
 * The part of its runtime that the library uses. Tests give their own; everything else in `src` has no clock and no
 * timers.
 */

export interface Environment {
  readonly fetch: typeof globalThis.fetch;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** A text that no other client has. */
  readonly uniqueId: () => string;
  /** Calls `callback` once after `delayMs`, without holding the process open; returns the function that prevents it. */
  readonly schedule: (delayMs: number, callback: () => void) => () => void;
  /** Keeps the process from ending until the function that it answers is called. */
  readonly holdProcess: () => () => void;
  /** Writes a line for the operator of the program. */
  readonly warn: (line: string) => void;
  /** Writes a line of the runtime log, when `DEBUG` asks for it. */
  readonly debug: ((line: string) => void) | undefined;
}

/** Globals that runtimes have beyond the web's; each may be missing. */
interface RuntimeGlobals {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
  readonly Deno?: { readonly unrefTimer?: (id: unknown) => void };
}

/** Long enough that it never fires in practice, short enough that no runtime clamps it. */
const HOLD_INTERVAL_MS = 2 ** 30;

/**
 * The runtime's own. `uniqueId` is asked at the first call, since edge runtimes refuse randomness while a module loads.
 */
export function systemEnvironment(fetch?: typeof globalThis.fetch): Environment {
  const runtime = globalThis as RuntimeGlobals;
  return {
    // Looked up at each request: a program may replace the global after it made its client, as tracers do.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
    nowMs: () => Date.now(),
    random: () => Math.random(),
    uniqueId: () =>
      randomWords()
        .map((word) => word.toString(36))
        .join(""),
    schedule: (delayMs, callback) => {
      const timer = setTimeout(callback, delayMs);
      unref(timer, runtime);
      return () => clearTimeout(timer);
    },
    holdProcess: () => {
      const timer = setInterval(() => {}, HOLD_INTERVAL_MS);
      return () => clearInterval(timer);
    },
    warn: writeError,
    debug: isDebugging(runtime) ? writeError : undefined,
  };
}

/**
 * 128 bits, at most 28 characters in base 36. Node 18 has no global `crypto`; an id is no secret, and chance will do.
 */
function randomWords(): number[] {
  if (typeof crypto === "undefined") return Array.from({ length: 4 }, () => Math.floor(Math.random() * 2 ** 32));
  return Array.from(crypto.getRandomValues(new Uint32Array(4)));
}

/** Node's and Bun's timers are objects that know how; Deno's are numbers; elsewhere there is no process to hold. */
function unref(timer: unknown, runtime: RuntimeGlobals): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function")
    timer.unref();
  else runtime.Deno?.unrefTimer?.(timer);
}

/** `DEBUG=analytics`, alone or in a list. Deno asks for a permission to read it, and may say no. */
function isDebugging(runtime: RuntimeGlobals): boolean {
  try {
    return (runtime.process?.env?.["DEBUG"] ?? "").split(/[\s,]+/).includes("analytics");
  } catch {
    return false;
  }
}

function writeError(line: string): void {
  // biome-ignore lint/suspicious/noConsole: the one way that every runtime has to reach its operator; standard output stays the program's.
  console.error(line);
}
