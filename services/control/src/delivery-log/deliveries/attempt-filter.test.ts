import { shortName } from "@posthaste/core/routing/short-name";
import { attemptEntries } from "@posthaste/read-model/attempt-entry";
import { attemptAt } from "@posthaste/testbed/log-writer";
import { describe, expect, it } from "vitest";
import { type AttemptFilter, attemptCheck } from "./attempt-filter.ts";

const url = (status: number | null, error: string | null = null) => ({
  ...{ url: "https://a.example/", status, error, durationMs: 1, answer: null },
});

describe("a filter of attempts", () => {
  const long = "u".repeat(400);
  const found = attemptAt(1, {
    ...{ type: "page", sourceId: "src_9", userKey: shortName(long), event: "Home", replayId: "rpl_1", attempt: 3 },
    urls: [url(503), url(null, "timeout"), url(204)],
  });
  const fits = (filter: AttemptFilter) => {
    const [entry] = attemptEntries({ attempts: [found] }, { partition: 0, offset: 0 });
    return entry !== undefined && attemptCheck(filter)?.(entry);
  };

  it("is none where nothing is asked", () => {
    expect(attemptCheck({})).toBeNull();
    expect(attemptCheck({ type: undefined, error: undefined })).toBeNull();
  });

  it.each<AttemptFilter>([
    { type: "page" },
    { sourceId: "src_9" },
    { userId: long },
    { event: "Home" },
    { replayId: "rpl_1" },
    { attempt: 3 },
    { error: "503" },
    { error: "timeout" },
    { statusClass: "2xx" },
    { statusClass: "5xx" },
    { type: "page", attempt: 3, error: "timeout", statusClass: "5xx" },
  ])("takes it by %j", (filter) => {
    expect(fits(filter)).toBe(true);
  });

  it.each<AttemptFilter>([
    { type: "track" },
    { sourceId: "src_1" },
    { userId: `${long}x` },
    { event: "home" },
    { replayId: "rpl_2" },
    { attempt: 1 },
    { error: "204" },
    { error: "500" },
    { statusClass: "4xx" },
    { type: "page", attempt: 2 },
  ])("leaves it out by %j", (filter) => {
    expect(fits(filter)).toBe(false);
  });
});
