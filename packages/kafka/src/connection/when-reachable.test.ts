import { PosthasteError } from "@posthaste/core/errors";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { untilAnswered } from "./when-reachable.ts";

const passing = () => new PosthasteError("broker_unavailable", "down", { retryable: true });

describe("waiting for an answer", () => {
  let lines: unknown[];
  let waiting: { log: Log; fields: Record<string, unknown>; message: string };

  beforeEach(() => {
    vi.useFakeTimers();
    lines = [];
    const log: Log = { ...SILENT_LOG, warn: (fields) => lines.push(fields) };
    waiting = { log, fields: { event: "waiting" }, message: "trying on" };
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("asks until it is answered, and says every five seconds that it waits", async () => {
    let asked = 0;
    const until = performance.now() + 12_000;
    const ask = async () => {
      asked += 1;
      if (performance.now() < until) throw passing();
      return "answer";
    };
    const answer = untilAnswered(ask, waiting);
    await vi.advanceTimersByTimeAsync(13_000);
    expect(await answer).toBe("answer");
    expect(asked).toBeGreaterThan(20);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toEqual({ event: "waiting", reason: "PosthasteError: down" });
  });

  it("hands a failure on that asking again does not help", async () => {
    const refused = new PosthasteError("topic_missing", "no topic");
    await expect(untilAnswered(() => Promise.reject(refused), waiting)).rejects.toBe(refused);
    const bug = new TypeError("a bug");
    await expect(untilAnswered(() => Promise.reject(bug), waiting)).rejects.toBe(bug);
    expect(lines).toEqual([]);
  });

  it("gives up with the last failure when its signal is aborted", async () => {
    const ending = new AbortController();
    const answer = expect(
      untilAnswered(() => Promise.reject(passing()), { ...waiting, signal: ending.signal }),
    ).rejects.toMatchObject({ code: "broker_unavailable" });
    await vi.advanceTimersByTimeAsync(1000);
    ending.abort();
    await answer;
  });
});
