/** A replay that is counted and started in one call: its plan is one record, its start another. */

import type { Author } from "@posthaste/core/access/author";
import { SILENT_LOG } from "@posthaste/core/log";
import { NONE_SKIPPED } from "@posthaste/core/replay/replay";
import type { ReplayPlan } from "@posthaste/core/replay/replay-plan";
import type { PlanInput } from "@posthaste/dead-letters/planner";
import type { AskedAct, HeldPlan } from "@posthaste/dead-letters/replay-store";
import { expect, it } from "vitest";
import { ReplayHandlers, type ReplayHandlersOptions } from "./replay-handlers.ts";

const NOW_MS = 1000;
const BY: Author = {
  caller: { tokenId: null, name: "somebody", scopes: [], sessionId: null, way: "api" },
  ...{ operation: "replayDeadLetters", requestId: "req_1" },
};
const INPUT: PlanInput = { purpose: "replay", filter: {}, again: false, ratePerSecond: null };
const PLAN: ReplayPlan = {
  ...{ ...INPUT, want: "planned", topicId: "T", ranges: [{ partition: 0, start: 0, end: 5 }], matched: 5 },
  ...{ leftOut: NONE_SKIPPED, leftOutPlaces: new Uint8Array(), samples: [], createdAtMs: NOW_MS },
  ...{ expiresAtMs: NOW_MS + 3_600_000, startedAtMs: null },
};

/** The topic of plans; and processes over it, each of which is killed at its nth write. */
function installation() {
  const held = new Map<string, HeldPlan>();
  const start = (killedAt = Number.POSITIVE_INFINITY) => {
    let writes = 0;
    const write = async (plan: HeldPlan): Promise<HeldPlan> => {
      writes += 1;
      if (writes >= killedAt) throw new Error("the process has ended");
      held.set(plan.id, plan);
      return plan;
    };
    const store = {
      freshness: { asOfMs: null, complete: true },
      plans: () => held.values(),
      get: (id: string) => held.get(id),
      find: async (id: string) => held.get(id),
      add: (id: string, plan: ReplayPlan) => write({ id, createdAtMs: NOW_MS, plan, progress: undefined }),
      act: (id: string, { change = () => ({}) }: AskedAct) => {
        const found = held.get(id);
        if (found === undefined) throw new Error(`there is no ${id}`);
        return write({ ...found, plan: { ...found.plan, ...change(found.plan), want: "running" } });
      },
    };
    const handlers = new ReplayHandlers({
      ...{ store, planner: { make: async () => ({ plan: PLAN, counts: [] }) } },
      ...{
        reported: { all: () => [], tellOf: (work: () => unknown) => work() },
        readModel: { isComplete: () => true },
      },
      ...{ clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 }, log: SILENT_LOG },
    } as unknown as ReplayHandlersOptions);
    return async () => {
      const { id } = await handlers.plan({ ...INPUT, again: true }, new AbortController().signal);
      const { plan } = await handlers.start(id ?? "", { purpose: "replay", by: BY });
      return { id, want: plan.want, listed: handlers.list({ limit: 50 }, "oldest_first").data.map((each) => each.id) };
    };
  };
  return { start, wanted: () => [...held.values()].map(({ plan }) => plan.want) };
}

it.each([
  [1, []],
  [2, ["planned"]],
] as const)("killed at write %d it sends nothing, and who asks again has one replay", async (killedAt, left) => {
  const { start, wanted } = installation();
  await expect(start(killedAt)()).rejects.toThrow("the process has ended");
  expect(wanted()).toEqual(left);
  const { id, want, listed } = await start()();
  expect([want, listed]).toEqual(["running", [id]]);
  expect(wanted()).toEqual([...left, "running"]);
});
