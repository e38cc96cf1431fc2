/** Rule: RP1 of core's replay.ts. */
import type { DeadLetterFacts } from "@posthaste/core/replay/dead-letter-filter";
import { claimProgress, NONE_SKIPPED } from "@posthaste/core/replay/replay";
import type { ReplayPlan } from "@posthaste/core/replay/replay-plan";
import { describe, expect, it } from "vitest";
import { PlaceSet } from "./place-set.ts";
import { meantBy, PastPlans } from "./plan-dead-letters.ts";
import type { HeldPlan } from "./replay-store.ts";

function placesOf(...offsets: readonly number[]): Uint8Array {
  const places = new PlaceSet();
  places.add(0, offsets);
  return places.encode();
}

const PLAN: ReplayPlan = {
  ...{ purpose: "replay", want: "running", filter: { destinationId: "dst_1" }, again: false, ratePerSecond: null },
  ...{ topicId: "T", ranges: [{ partition: 0, start: 10, end: 20 }], matched: 1, leftOut: NONE_SKIPPED, samples: [] },
  ...{ leftOutPlaces: placesOf(12, 15), createdAtMs: 0, expiresAtMs: 1000, startedAtMs: 5 },
};
const at = (offset: number, differing: Partial<DeadLetterFacts> = {}): DeadLetterFacts => ({
  ...{ partition: 0, offset, deadAtMs: 1, reason: "window_expired", destinationId: "dst_1", sourceId: "src_1" },
  ...{ messageId: "m", type: "track", userIds: [], event: null, errors: [] },
  ...differing,
});
const offsets = Array.from({ length: 25 }, (_, offset) => offset);

it("a plan means what fits between its offsets, but for the places that it leaves out", () => {
  const isMeant = meantBy(PLAN);
  expect(offsets.filter((offset) => isMeant(at(offset)))).toEqual([10, 11, 13, 14, 16, 17, 18, 19]);
  expect(isMeant(at(11, { partition: 1 }))).toBe(false);
  expect(isMeant(at(11, { destinationId: "dst_2" }))).toBe(false);
});

describe("earlier plans", () => {
  const progress = { ...claimProgress(undefined, 0), leftOutPlaces: placesOf(14), updatedAtMs: 0 };
  const held = (plan: Partial<ReplayPlan>, sent: number): HeldPlan => ({
    ...{ id: "rpl_1", createdAtMs: 0, plan: { ...PLAN, ...plan } },
    progress: { ...progress, sent, next: [{ partition: 0, offset: 17 }] },
  });
  const past = (each: HeldPlan, topicId: string | null = "T") =>
    new PastPlans({ plans: () => [each] }, { id: topicId });
  const chosen = (test: (deadLetter: DeadLetterFacts) => boolean) => offsets.filter((offset) => test(at(offset)));

  it("sent what they meant below where they are, but for what was skipped at sending", () => {
    expect(chosen(past(held({}, 4)).replayed(null))).toEqual([10, 11, 13, 16]);
    expect(chosen(past(held({}, 4)).replayed("rpl_1"))).toEqual([]);
    expect(chosen(past(held({}, 0)).replayed(null))).toEqual([]);
    expect(chosen(past(held({ purpose: "purge" }, 4)).replayed(null))).toEqual([]);
  });

  it("purged what they meant, once they were started", () => {
    expect(chosen(past(held({ purpose: "purge" }, 0)).purged())).toEqual([10, 11, 13, 14, 16, 17, 18, 19]);
    const isPurge = (plan: Partial<ReplayPlan>) => past(held(plan, 0)).hasPurges;
    expect([isPurge({ purpose: "purge" }), isPurge({ purpose: "purge", startedAtMs: null }), isPurge({})]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("say nothing of another topic of the name, where topics have ids", () => {
    const purge = held({ purpose: "purge" }, 0);
    expect(chosen(past(purge, "another").purged())).toEqual([]);
    expect([past(purge, "another").hasPurges, past(purge, null).hasPurges]).toEqual([false, true]);
    expect(past(held({ purpose: "purge", topicId: null }, 0)).hasPurges).toBe(true);
  });
});
