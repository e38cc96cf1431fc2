import type { RecordedProgress } from "@posthaste/contracts/replay-codec";
import { SILENT_LOG } from "@posthaste/core/log";
import { claimProgress, NONE_SKIPPED } from "@posthaste/core/replay/replay";
import type { ReplayPlan } from "@posthaste/core/replay/replay-plan";
import { describe, expect, it } from "vitest";
import { dueReplays, isOver, removeOver } from "./replay-runner.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const PLAN: ReplayPlan = {
  ...{ purpose: "replay", want: "planned", filter: {}, again: false, ratePerSecond: null, topicId: null },
  ...{ ranges: [], matched: 1 },
  ...{ leftOut: NONE_SKIPPED, leftOutPlaces: new Uint8Array(), samples: [] },
  ...{ createdAtMs: 0, expiresAtMs: 1000, startedAtMs: null },
};
const ended = (endedAtMs: number | null): RecordedProgress => ({
  ...{ ...claimProgress(undefined, 0), leftOutPlaces: new Uint8Array(), updatedAtMs: 0 },
  endedAtMs,
});

it("replays are carried out in the order in which they were started, whenever they were planned (RR1)", () => {
  const held = (id: string, plan: Partial<ReplayPlan>, progress?: RecordedProgress) => ({
    ...{ id, createdAtMs: 0, progress },
    plan: { ...PLAN, want: "running", ...plan } as const,
  });
  const plans = [
    held("second", { startedAtMs: 20 }),
    held("paused", { want: "paused", startedAtMs: 1 }),
    held("first", { startedAtMs: 10 }),
    held("purge", { purpose: "purge", startedAtMs: 2 }),
    held("done", { startedAtMs: 3 }, ended(9)),
    held("planned", { want: "planned" }),
    held("cancelled", { want: "cancelled", startedAtMs: 30 }),
  ];
  expect(dueReplays(plans).map(({ id }) => id)).toEqual(["first", "second", "cancelled"]);
});

describe("what is over (RR3)", () => {
  it("is a plan that nobody started within its time", () => {
    expect([
      isOver({ plan: PLAN, progress: undefined }, 999),
      isOver({ plan: PLAN, progress: undefined }, 1000),
    ]).toEqual([false, true]);
  });

  it("is a replay fourteen days after its end, and none that has not ended", () => {
    const plan: ReplayPlan = { ...PLAN, want: "running", startedAtMs: 5 };
    expect(isOver({ plan, progress: undefined }, 99 * DAY_MS)).toBe(false);
    expect(isOver({ plan, progress: ended(null) }, 99 * DAY_MS)).toBe(false);
    expect(isOver({ plan, progress: ended(10) }, 14 * DAY_MS + 9)).toBe(false);
    expect(isOver({ plan, progress: ended(10) }, 14 * DAY_MS + 10)).toBe(true);
  });

  it("is a purge when its dead letters are long gone", () => {
    const plan: ReplayPlan = { ...PLAN, purpose: "purge", want: "running", startedAtMs: 5 };
    expect(isOver({ plan, progress: undefined }, 28 * DAY_MS)).toBe(false);
    expect(isOver({ plan, progress: undefined }, 28 * DAY_MS + 5)).toBe(true);
  });

  it("is removed though one of it cannot be, which is told when the rest is done", async () => {
    const { removed, removing } = remove(["first", "stuck", "last"]);
    await expect(removing).rejects.toThrow("no broker");
    expect(removed).toEqual(["first", "last", "left progress"]);
  });

  it("is removed no further once another process leads", async () => {
    const leading = new AbortController();
    const { removed, removing } = remove(["first", "last"], leading);
    leading.abort();
    await removing;
    expect(removed).toEqual(["first"]);
  });
});

/** Removes plans that are over, of which "stuck" cannot be removed. */
function remove(ids: readonly string[], leading = new AbortController()) {
  const removed: string[] = [];
  const store = {
    plans: () => ids.map((id) => ({ id, createdAtMs: 0, plan: PLAN, progress: undefined })),
    remove: async (id: string) => {
      if (id === "stuck") throw new Error("no broker");
      return removed.push(id) > 0;
    },
    removeLeftProgress: async () => void removed.push("left progress"),
  };
  const clock = { nowMs: () => 1000, monotonicMs: () => 0 };
  return { removed, removing: removeOver({ store, clock, log: SILENT_LOG }, leading.signal) };
}
