/**
 * How far something long is, on standard error: one line that is written over on a terminal, a line now and then
 * elsewhere, an object now and then under `--json`.
 */
import type { Context } from "./context.ts";

const ON_TERMINAL_MS = 250;
const ELSEWHERE_MS = 5000;

export interface Progress {
  /** The finished work, in words, its count so far and, where that is known, the total. It prints now and then. */
  readonly report: (what: string, count: number, total?: number) => void;
  /** Leaves the line to later output. */
  readonly end: () => void;
}

export function startProgress({ terminal, printer }: Pick<Context, "terminal" | "printer">): Progress {
  const isRewritten = terminal.isTalkTerminal && !printer.isJson;
  const intervalMs = isRewritten ? ON_TERMINAL_MS : ELSEWHERE_MS;
  let printedAtMs = performance.now();
  let isLineOpen = false;
  let current = { what: "", sinceMs: printedAtMs, from: 0 };
  return {
    report: (what, count, total) => {
      const nowMs = performance.now();
      if (what !== current.what) current = { what, sinceMs: nowMs, from: count };
      if (nowMs - printedAtMs < intervalMs) return;
      printedAtMs = nowMs;
      const seconds = (nowMs - current.sinceMs) / 1000;
      const rate = seconds > 0 ? Math.round((count - current.from) / seconds) : 0;
      const secondsLeft = total === undefined || rate <= 0 ? null : Math.ceil(Math.max(0, total - count) / rate);
      const line = printer.isJson
        ? JSON.stringify({
            progress: what.replace(/:$/, ""),
            count,
            total: total ?? null,
            perSecond: rate,
            secondsLeft,
          })
        : lineOf({ what, count, total, rate, secondsLeft });
      if (isRewritten) printer.rewrite(line);
      else printer.say(line);
      isLineOpen = isRewritten;
    },
    end: () => {
      if (isLineOpen) printer.rewrite("");
      isLineOpen = false;
    },
  };
}

interface Shown {
  readonly what: string;
  readonly count: number;
  readonly total: number | undefined;
  readonly rate: number;
  readonly secondsLeft: number | null;
}

function lineOf({ what, count, total, rate, secondsLeft }: Shown): string {
  const of = total === undefined ? "" : ` of ${grouped(total)}`;
  const left = secondsLeft === null ? "" : `, ${durationWords(secondsLeft)} left`;
  return `${what} ${grouped(count)}${of}, ${grouped(rate)} a second${left}`;
}

/** `46 s`, `2 m 4 s`, `3 h 20 m`. */
function durationWords(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return `${grouped(hours)} h ${minutes} m`;
  return minutes > 0 ? `${minutes} m ${seconds % 60} s` : `${seconds} s`;
}

/** 1,234,567. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
