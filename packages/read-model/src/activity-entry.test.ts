import type { RefusedRequest, SourceActivity } from "@posthaste/core/call/source-activity";
import { expect, it } from "vitest";
import {
  activityEntries,
  activityFromEntry,
  refusedRequestEntries,
  refusedRequestFromEntry,
} from "./activity-entry.ts";

const sample = (messageIds: readonly string[]): RefusedRequest => ({
  ...{ atMs: 7, status: 413, code: "request_too_large", path: "/v1/batch", bytes: 20, userAgent: "mine/1" },
  ...{ messageIds, unknownKey: null },
});
const activity = (samples: readonly RefusedRequest[]): SourceActivity => ({
  ...{ sourceId: "src_1", instance: "i", sinceMs: 1, untilMs: 9, accepted: 3, lastAcceptedMs: 8 },
  ...{ rejected: { missing_user: 2 }, refused: { request_too_large: 1 }, samples },
});
const PLACE = { partition: 2, offset: 70 };

it("a source's counts come back from their entry, which is of the source and of the end of its time", () => {
  const { samples: _, ...counted } = activity([]);
  const entries = activityEntries(activity([sample(["m"])]), PLACE);
  expect(entries).toMatchObject([{ ...PLACE, timeMs: 9, destinationId: "src_1", kind: "counted", messageId: "" }]);
  expect(entries.map(activityFromEntry)).toEqual([counted]);
});

it("a refused request is found by each of its message ids, and listed once", () => {
  const entries = refusedRequestEntries(activity([sample(["a", "b"]), sample([])]), PLACE);
  expect(entries.map(({ place, kind, messageId }) => [place, kind, messageId])).toEqual([
    [0, "request", "a"],
    [1, "further_id", "b"],
    [32, "request", ""],
  ]);
  expect(entries.map(refusedRequestFromEntry)).toEqual([
    { sourceId: "src_1", ...sample(["a", "b"]) },
    { sourceId: "src_1", ...sample(["b"]) },
    { sourceId: "src_1", ...sample([]) },
  ]);
});

it("however many ids a request names, its entries have places of their own", () => {
  const many = sample(Array.from({ length: 100 }, (_, n) => `m${n}`));
  const places = refusedRequestEntries(activity([many, many]), PLACE).map(({ place }) => place);
  expect(new Set(places).size).toBe(places.length);
  expect(places).toHaveLength(64);
});
