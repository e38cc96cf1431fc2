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

/** The lines that a sync of 12,000 users in six seconds leaves on standard error. */
function talkOf(
  isTalkTerminal: boolean,
  { quiet = false, json = false, total = undefined as number | undefined } = {},
) {
  let talk = "";
  const terminal: Terminal = {
    env: {},
    isTerminal: false,
    isTalkTerminal,
    nowMs: () => 0,
    columns: 80,
    canAsk: false,
    out: () => {},
    err: (text) => {
      talk += text;
    },
    readFile: () => Promise.reject(new Error("no files here")),
    openFile: () => Promise.reject(new Error("no files here")),
    openOutput: () => Promise.reject(new Error("no files here")),
    writePrivate: () => Promise.reject(new Error("no files here")),
    askSecret: () => Promise.reject(new Error("nobody here")),
    onInterrupt: () => () => {},
    openUrl: () => Promise.reject(new Error("no browser here")),
    ask: () => Promise.reject(new Error("nobody here")),
  };
  const printer = createPrinter({ terminal, json, quiet, color: false });
  const progress = startProgress({ terminal, printer });
  progress.report("users sent:", 0, total);
  for (let sent = 2000; sent <= 12_000; sent += 2000) {
    vi.advanceTimersByTime(1000);
    progress.report("users sent:", sent, total);
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
    expect([talkOf(false, { quiet: true }), talkOf(true, { quiet: true })]).toEqual(["", ""]);
  });

  it("says of how many, and how long that takes still, where that is known", () => {
    expect(talkOf(false, { total: 410_000 })).toBe("users sent: 10,000 of 410,000, 2,000 a second, 3 m 20 s left\n");
    expect(talkOf(false, { total: 40_010_000 })).toContain("2,000 a second, 5 h 33 m left\n");
    expect(talkOf(false, { total: 10_500 })).toContain("1 s left\n");
  });

  it("is an object now and then under --json, on a terminal too", () => {
    const said = { progress: "users sent", count: 10_000, total: 12_000, perSecond: 2000, secondsLeft: 1 };
    for (const isTerminal of [true, false]) {
      expect(JSON.parse(talkOf(isTerminal, { json: true, total: 12_000 }))).toEqual(said);
    }
  });
});
