import { describe, expect, it } from "vitest";
import { boundMoments } from "./carried-moments.ts";
import { NO_PROGRESS } from "./delivery.ts";

const WRITTEN_MS = 1_790_000_000_000;
const HOUR_MS = 3_600_000;
const asked = {
  ...NO_PROGRESS,
  attempts: 1,
  windowStartMs: WRITTEN_MS,
  deadlineMs: WRITTEN_MS + HOUR_MS,
  notBeforeMs: WRITTEN_MS + 45_000,
  urlsNotBeforeMs: { "https://a.example/": WRITTEN_MS + 90_000 },
};
/** The record is due after 30 s, and read by a clock that is so far ahead of the writer's. */
const readBy = (aheadMs: number, afterMs = 30_000) => {
  const record = { republishedAtMs: WRITTEN_MS, delayMs: 30_000, nowMs: WRITTEN_MS + afterMs + aheadMs };
  return boundMoments(asked, record);
};

describe("a Retry-After that a retry record carries", () => {
  it("W5: is left as it is while the clocks agree, however late the record is read, or the reader's is ahead", () => {
    for (const moments of [readBy(0), readBy(0, HOUR_MS), readBy(HOUR_MS)]) expect(moments).toBe(asked);
  });

  it("W5: is as far away by a reader's clock that is an hour behind, and the window's end stays", () => {
    const nowMs = WRITTEN_MS + 30_000 - HOUR_MS;
    expect(readBy(-HOUR_MS)).toEqual({
      ...asked,
      notBeforeMs: nowMs + 15_000,
      urlsNotBeforeMs: { "https://a.example/": nowMs + 60_000 },
    });
  });

  it("is as it is in a record that does not say when it was written, and where there is none", () => {
    const behind = { delayMs: 30_000, nowMs: 0 };
    expect(boundMoments(asked, { ...behind, republishedAtMs: null })).toBe(asked);
    expect(boundMoments(NO_PROGRESS, { ...behind, republishedAtMs: WRITTEN_MS })).toBe(NO_PROGRESS);
    const one = { ...asked, urlsNotBeforeMs: null };
    expect(boundMoments(one, { ...behind, republishedAtMs: WRITTEN_MS }).urlsNotBeforeMs).toBeNull();
  });
});
