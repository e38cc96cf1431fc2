import { PosthasteError } from "@posthaste/core/errors";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { prefetchPatiently, untilAnswered } from "./when-reachable.ts";

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

  it("asks again for a schema that the registry does not know, and not for ever", async () => {
    const unknown = new PosthasteError("unknown_schema", "no such schema");
    const prefetch = prefetchPatiently((_: string) => Promise.reject(unknown), waiting, 10_000);
    let given: unknown;
    prefetch("record")?.catch((error: unknown) => {
      given = error;
    });
    await vi.advanceTimersByTimeAsync(9_000);
    expect(given).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(given).toBe(unknown);
  });

  it("learns what a record needs as soon as the registry answers, and waits for nothing that is known", async () => {
    const failures = [passing(), passing()];
    let known = false;
    const prefetch = prefetchPatiently((_: string): Promise<void> | undefined => {
      if (known) return undefined;
      const failure = failures.pop();
      if (failure !== undefined) return Promise.reject(failure);
      known = true;
      return Promise.resolve();
    }, waiting);
    const learnt = prefetch("record");
    await vi.advanceTimersByTimeAsync(1000);
    await expect(learnt).resolves.toBeUndefined();
    expect([known, prefetch("record")]).toEqual([true, undefined]);
  });
});
