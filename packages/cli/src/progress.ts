/**
 * How far something long is, on standard error: one line that is written over on a terminal, a line now and then
 * elsewhere.
 */
import type { Context } from "./context.ts";

const ON_TERMINAL_MS = 250;
const ELSEWHERE_MS = 5000;

export interface Progress {
  /** What is done, in words, and how many of it so far. Cheap: it prints now and then. */
  readonly report: (what: string, count: number) => void;
  /** Leaves the line to what comes next. */
  readonly end: () => void;
}

export function startProgress({ terminal, printer }: Pick<Context, "terminal" | "printer">): Progress {
  const intervalMs = terminal.isTalkTerminal ? ON_TERMINAL_MS : ELSEWHERE_MS;
  let printedAtMs = performance.now();
  let isLineOpen = false;
  let current = { what: "", sinceMs: printedAtMs, from: 0 };
  return {
    report: (what, count) => {
      const nowMs = performance.now();
      if (what !== current.what) current = { what, sinceMs: nowMs, from: count };
      if (nowMs - printedAtMs < intervalMs) return;
      printedAtMs = nowMs;
      const seconds = (nowMs - current.sinceMs) / 1000;
      const rate = seconds > 0 ? Math.round((count - current.from) / seconds) : 0;
      const line = `${what} ${grouped(count)}, ${grouped(rate)} a second`;
      if (terminal.isTalkTerminal) printer.rewrite(line);
      else printer.say(line);
      isLineOpen = terminal.isTalkTerminal;
    },
    end: () => {
      if (isLineOpen) printer.rewrite("");
      isLineOpen = false;
    },
  };
}

/** 1,234,567. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
