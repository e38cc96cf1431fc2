import type { RecordedProgress } from "@posthaste/contracts/replay-codec";
import { PosthasteError } from "@posthaste/core/errors";
import { SILENT_LOG } from "@posthaste/core/log";
import { NONE_SKIPPED, REPLAY_BATCH } from "@posthaste/core/replay/replay";
import { beforeEach, describe, expect, it } from "vitest";
import { PlaceSet } from "./place-set.ts";
import { RunProgress, TakenOver } from "./run-progress.ts";

let held: RecordedProgress | undefined;
let nowMs: number;
/** Writes that the brokers do not take. */
let refusals: number;
let writes: number;

beforeEach(() => {
  [held, nowMs, refusals, writes] = [undefined, 0, 0, 0];
});

const options = {
  clock: { nowMs: () => 1_000_000 + nowMs, monotonicMs: () => nowMs },
  log: SILENT_LOG,
  store: {
    writeProgress: async (_: string, change: (current: RecordedProgress | undefined) => RecordedProgress) => {
      const next = change(held);
      refusals -= 1;
      if (refusals >= 0) throw new PosthasteError("deadline_exceeded", "no broker", { retryable: true });
      writes += 1;
      held = next;
      return next;
    },
  },
};
const claim = (signal = new AbortController().signal) => RunProgress.claim(options, "rpl_1", signal);
const passed = (next: number, sent: number) => ({ next, sent, leftOut: [] });

describe("the progress of a run", () => {
  it("RW1: is written each second, and when no more dead letters may go before a write", async () => {
    const progress = await claim();
    expect(progress.sendable).toBe(REPLAY_BATCH);
    progress.pass(0, passed(500, 500));
    await progress.writeWhenDue();
    expect([writes, held?.sent, progress.sendable]).toEqual([1, 0, 500]);
    nowMs = 1000;
    await progress.writeWhenDue();
    expect([writes, held?.sent, progress.sendable]).toEqual([2, 500, REPLAY_BATCH]);
    progress.pass(0, passed(1500, REPLAY_BATCH));
    expect(progress.sendable).toBe(0);
    await progress.writeWhenDue();
    expect([writes, held?.sent, held?.next]).toEqual([3, 1500, [{ partition: 0, offset: 1500 }]]);
  });

  it("RW2: waits for brokers that take no writes, and is told when another went on", async () => {
    const first = await claim();
    first.pass(0, passed(10, 10));
    refusals = 3;
    await first.write("running");
    expect(held?.sent).toBe(10);
    const second = await claim();
    expect([held?.generation, held?.takeovers, second.nextOf({ partition: 0, offset: 0 })]).toEqual([2, 1, 10]);
    first.pass(0, passed(20, 10));
    await expect(first.write("done")).rejects.toThrow(TakenOver);
    expect([held?.generation, held?.sent, held?.state]).toEqual([2, 10, "running"]);
  });

  it("RW3: of what has ended is not claimed, whoever missed the end", async () => {
    const progress = await claim();
    progress.pass(0, passed(10, 10));
    await progress.write("done", 10);
    const done = held;
    await expect(claim()).rejects.toThrow(TakenOver);
    expect(held).toBe(done);
  });

  it("gives up where the process ends while brokers take no writes", async () => {
    const ending = new AbortController();
    const progress = await claim(ending.signal);
    ending.abort();
    refusals = Number.POSITIVE_INFINITY;
    await expect(progress.write("waiting")).rejects.toThrow("no broker");
  });

  it("keeps where dead letters were skipped, over a change of runners, and what the topic lost meanwhile", async () => {
    const first = await claim();
    first.pass(1, { next: 8, sent: 5, leftOut: [{ offset: 3, cause: "destinationOff" }] });
    await first.write("waiting");
    const second = await claim();
    second.pass(1, { next: 12, sent: 1, leftOut: [{ offset: 9, cause: "suppressed" }] });
    await second.write("done", 10);
    const places = PlaceSet.decode(held?.leftOutPlaces ?? new Uint8Array());
    expect([3, 8, 9].map((offset) => places.has(1, offset))).toEqual([true, false, true]);
    expect(held).toMatchObject({ state: "done", sent: 6, takeovers: 0, endedAtMs: 1_000_000 });
    expect(held?.leftOut).toEqual({ ...NONE_SKIPPED, destinationOff: 1, suppressed: 1, expired: 2 });
  });

  it("ends as failed where what it skipped cannot be noted any more, with what was noted before", async () => {
    const progress = await claim();
    progress.pass(0, { next: 4, sent: 0, leftOut: [{ offset: 3, cause: "suppressed" }] });
    await progress.write("running");
    let offset = 10;
    const leftOut = Array.from({ length: 800_000 }, (_, index) => {
      // Gaps that nothing makes shorter.
      offset += 2 + ((index * 7919 * (index % 1013)) % 16_000);
      return { offset, cause: "suppressed" } as const;
    });
    progress.pass(0, { next: offset + 1, sent: 0, leftOut });
    await expect(progress.write("running")).rejects.toThrow("too many dead letters were left out to be noted");
    await progress.write("failed");
    const places = PlaceSet.decode(held?.leftOutPlaces ?? new Uint8Array());
    expect([held?.state, places.has(0, 3), places.has(0, offset)]).toEqual(["failed", true, false]);
  });
});
