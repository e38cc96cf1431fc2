import { changesBetween } from "@posthaste/configuration/audited-fields";
import { NONE_SKIPPED } from "@posthaste/core/replay/replay";
import type { ReplayPlan } from "@posthaste/core/replay/replay-plan";
import { expect, it } from "vitest";
import { replayAudit } from "./replay-store.ts";

const PLAN: ReplayPlan = {
  ...{ purpose: "replay", want: "planned", filter: { destinationId: "dst_1" }, again: false, ratePerSecond: null },
  ...{ topicId: null, ranges: [], matched: 280, leftOut: NONE_SKIPPED, leftOutPlaces: new Uint8Array(), samples: [] },
  ...{ createdAtMs: 0, expiresAtMs: 1000, startedAtMs: null },
};
const audited = (plan: Partial<ReplayPlan>) =>
  replayAudit({ id: "rpl_1", revision: 1, plan: { ...PLAN, ...plan }, progress: null, counting: null });

it("the audit of a start tells of which dead letters, and that of a pause the new state alone", () => {
  const started = changesBetween(audited({}), audited({ want: "running" }));
  expect(started.find(({ field }) => field === "filter")).toMatchObject({ to: '{"destinationId":"dst_1"}' });
  expect(started.find(({ field }) => field === "matched")).toMatchObject({ to: "280" });
  const paused = changesBetween(audited({ want: "running" }), audited({ want: "paused" }));
  expect(paused.map(({ field }) => field)).toEqual(["want"]);
});
