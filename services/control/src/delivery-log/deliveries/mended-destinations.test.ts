/** Rules: ME1 and ME2 of mended.ts, over the dead letters that control has counted. */
import type { HeldPlan } from "@posthaste/dead-letters/replay-store";
import { expect, it } from "vitest";
import type { KnownDestination } from "../../health/health/known-health.ts";
import { MendedDestinations } from "./mended-destinations.ts";
import type { VisibleHour } from "./visible-dead-letters.ts";

const HOUR_MS = 3_600_000;
const hour = (destinationId: string, hours: number, over: Partial<VisibleHour> = {}): VisibleHour => ({
  ...{ destinationId, kind: "rejected_by_receiver", reasonClass: "configuration", error: "410" },
  ...{ hourMs: hours * HOUR_MS, count: 5, open: 5, deliveredSince: 0 },
  ...{ firstMs: hours * HOUR_MS + 1, lastMs: hours * HOUR_MS + 9, sample: "0:1" },
  ...over,
});
const known = (id: string, state: string, sinceMs: number | null) =>
  ({ destination: { id, name: id }, judged: { state, sinceMs } }) as unknown as KnownDestination;
const replay = (destinationId: string | undefined, createdAtMs: number, want = "running") =>
  ({ createdAtMs, plan: { purpose: "replay", want, filter: { destinationId } } }) as unknown as HeldPlan;

function start(hours: readonly VisibleHour[], plans: HeldPlan[] = []) {
  const held = { counted: 0, nowMs: 0, fails: false };
  const mended = new MendedDestinations({
    deadLetters: {
      hours: async () => {
        held.counted += 1;
        if (held.fails) throw new Error("the delivery log cannot be asked");
        return hours;
      },
      shown: async function* () {},
      stateOf: () => "open",
    },
    plans: () => plans,
    nowMs: () => held.nowMs,
  });
  return { mended, held };
}

it("a destination mended after 410 is told of, with its open dead letters; one that fails still is not", async () => {
  const { mended } = start([hour("dst_1", 3, { open: 0 }), hour("dst_1", 5), hour("dst_2", 5), hour("dst_3", 5)]);
  const all = [known("dst_1", "healthy", 6 * HOUR_MS), known("dst_2", "failing", 1), known("dst_3", "healthy", 5)];
  expect(await mended.among(all)).toEqual([
    {
      known: all[0],
      deadLetters: { destinationId: "dst_1", open: 5, firstMs: 5 * HOUR_MS, lastMs: 5 * HOUR_MS + 9 },
    },
  ]);
});

it("a destination is told of no more once a replay of its dead letters began, and a dry run is none", async () => {
  const all = [known("dst_1", "healthy", null)];
  const plans = [replay("dst_1", 9 * HOUR_MS, "planned"), replay("dst_2", 9 * HOUR_MS)];
  const { mended } = start([hour("dst_1", 5)], plans);
  expect(await mended.among(all)).toHaveLength(1);
  plans.push(replay(undefined, 9 * HOUR_MS));
  expect(await mended.among(all)).toEqual([]);
});

it("dead letters are counted every fifteen seconds at most, and again once they can be", async () => {
  const { mended, held } = start([hour("dst_1", 5)]);
  const among = async () => (await mended.among([known("dst_1", "healthy", null)])).length;
  held.fails = true;
  expect([await among(), held.counted]).toEqual([0, 1]);
  held.fails = false;
  expect(await Promise.all([among(), among()])).toEqual([1, 1]);
  held.nowMs = 14_999;
  expect([await among(), held.counted]).toEqual([1, 2]);
  held.nowMs = 15_000;
  expect([await among(), held.counted]).toEqual([1, 3]);
});
