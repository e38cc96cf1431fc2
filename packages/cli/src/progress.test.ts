import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPrinter } from "./printer.ts";
import { startProgress } from "./progress.ts";
import type { Terminal } from "./terminal.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** What a sync of 12,000 users in six seconds leaves on standard error. */
function talkOf(isTalkTerminal: boolean, quiet = false): string {
  let talk = "";
  const terminal: Terminal = {
    env: {},
    isTerminal: false,
    isTalkTerminal,
    columns: 80,
    canAsk: false,
    out: () => {},
    err: (text) => {
      talk += text;
    },
    readFile: () => Promise.reject(new Error("no files here")),
    openFile: () => Promise.reject(new Error("no files here")),
    ask: () => Promise.reject(new Error("nobody here")),
  };
  const printer = createPrinter({ terminal, json: false, quiet, color: false });
  const progress = startProgress({ terminal, printer });
  progress.report("users sent:", 0);
  for (let sent = 2000; sent <= 12_000; sent += 2000) {
    vi.advanceTimersByTime(1000);
    progress.report("users sent:", sent);
  }
  progress.end();
  return talk;
}

describe("progress", () => {
  it("is one line on a terminal, written over and taken away in the end", () => {
    const rows = talkOf(true).split("\r\u001b[2K").slice(1);
    expect(rows.slice(0, 2)).toEqual(["users sent: 2,000, 2,000 a second", "users sent: 4,000, 2,000 a second"]);
    expect([rows.length, rows.at(-1)]).toEqual([7, ""]);
  });

  it("is a line now and then elsewhere, and nothing for --quiet", () => {
    expect(talkOf(false)).toBe("users sent: 10,000, 2,000 a second\n");
    expect([talkOf(false, true), talkOf(true, true)]).toEqual(["", ""]);
  });
});
