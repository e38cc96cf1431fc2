import { activityEntries } from "@posthaste/read-model/activity-entry";
import { expect, it } from "vitest";
import { findSourceCalls } from "./source-calls.ts";

const NOW_MS = 1_800_000_000_000;
const FRESH = { asOfMs: null, complete: true };

/** The activity of a process in ten seconds, which ended `ms` ago. */
const endedAgo = (ms: number, accepted: number, code: string) => ({
  ...{ sourceId: "src_1", instance: "one", sinceMs: NOW_MS - ms - 10_000, untilMs: NOW_MS - ms, accepted },
  ...{ lastAcceptedMs: NOW_MS - ms - 1, rejected: { [code]: 1 }, refused: { [code]: 2 }, samples: [] },
});

it("a source's calls are counted from the moment that was asked for, though what the rate needs is older", async () => {
  const activities = [endedAgo(20_000, 40, "new"), endedAgo(30_000, 5, "new"), endedAgo(30_001, 300, "old")];
  const entries = activities.flatMap((each, offset) => activityEntries(each, { partition: 0, offset }));
  const { counts } = await findSourceCalls(
    "src_1",
    { limit: 50, sinceMs: NOW_MS - 30_000, nowMs: NOW_MS },
    {
      readModel: {
        newest: async (projection) => (projection === "source_activity" ? entries : []),
        freshness: () => FRESH,
      },
      tail: { newest: async () => ({ events: [], freshness: FRESH }) },
      suppressed: { size: 0, has: () => false },
    },
  );
  expect(counts).toMatchObject({
    ...{ since: new Date(NOW_MS - 30_000).toISOString(), accepted: 45 },
    lastAcceptedAt: new Date(NOW_MS - 20_001).toISOString(),
    rejected: [{ code: "new", count: 2 }],
    refused: [{ code: "new", count: 4 }],
  });
  // The rate is of a minute all the same.
  expect(counts.perSecond).toBe(5.8);
});
