/** Rule: HJ1 of health-state.ts, for the attempts of processes that are gone. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DestinationHealth } from "./health-record.ts";
import { judgeHealth } from "./health-state.ts";
import { joinPast, type PastAttempts, pastOf, pastUrl } from "./past-attempts.ts";

const URL_A = "https://a.example/";
const DESTINATION = { isEnabled: true, updatedAtMs: 5, urls: [URL_A] };
const NO_ATTEMPTS = { delivered: 0, failed: 0, failingSinceMs: null };
const answer = (atMs: number, status = 503) =>
  ({ atMs, outcome: status === 200 ? "delivered" : "retryable", status, error: null, durationMs: 12 }) as const;
const past = (over: Partial<PastAttempts> = {}): PastAttempts => ({
  ...{ deliveredAtMs: null, failedAtMs: null, failingSinceMs: null, recoveredAtMs: null, urls: [] },
  ...over,
});
const report = (over: Partial<DestinationHealth> = {}): DestinationHealth => ({
  ...{ delivered: 0, retryable: 0, permanent: 0, deferred: {}, latencies: [], countedSinceMs: 1, waiting: 0 },
  ...{ ...past(), failures: [] },
  ...over,
});
const judge = (of: PastAttempts | null, ...held: DestinationHealth[]) =>
  judgeHealth(DESTINATION, held, NO_ATTEMPTS, of);
const FAILED = past({ failedAtMs: 300, failingSinceMs: 100, urls: [pastUrl(URL_A, answer(300))] });

describe("a destination after a restart of what delivers to it", () => {
  it("stays failing, with its reason and since when, though no process has tried yet", () => {
    expect(judge(FAILED)).toMatchObject({ state: "failing", sinceMs: 100, reason: { url: URL_A, status: 503 } });
    expect(judge(FAILED, report()).state).toBe("failing");
  });

  it("fails since the first failure before the restart, also where the new process fails or opens a breaker", () => {
    const again = { failedAtMs: 900, failingSinceMs: 800 };
    expect(judge(FAILED, report(again)).sinceMs).toBe(100);
    const open = { ...pastUrl(URL_A, answer(900)), breaker: "open", openSinceMs: 900, nextProbeMs: 950 } as const;
    expect(judge(FAILED, report({ ...again, urls: [open] }))).toMatchObject({ state: "open", sinceMs: 100 });
  });

  it("is healthy once a new process delivers, and since then", () => {
    const delivered = { deliveredAtMs: 800, recoveredAtMs: 800 };
    expect(judge(FAILED, report(delivered))).toMatchObject({ state: "healthy", sinceMs: 800 });
    expect(judge(past({ deliveredAtMs: 300, recoveredAtMs: 200 }), report({ deliveredAtMs: 800 })).sinceMs).toBe(200);
  });

  it("does not fail since failures that a delivery ended", () => {
    const later = report({ deliveredAtMs: 500, failedAtMs: 900, failingSinceMs: 700 });
    expect(judge(FAILED, later)).toMatchObject({ state: "failing", sinceMs: 700 });
  });
});

it("past attempts are joined in any order, and keep of a report the moments and the last answers alone", () => {
  const open = { ...pastUrl(URL_A, answer(5)), breaker: "open", openSinceMs: 4, nextProbeMs: 9, inFlight: 3 } as const;
  const silent = pastUrl("https://b.example/", null);
  expect(pastOf(report({ failedAtMs: 5, waiting: 7, urls: [open, silent] }))).toEqual(
    past({ failedAtMs: 5, urls: [pastUrl(URL_A, answer(5))] }),
  );
  expect(joinPast(past({ urls: [pastUrl(URL_A, answer(7, 200))] }), FAILED).urls).toEqual(FAILED.urls);
  const moment = fc.option(fc.nat(20), { nil: null });
  const any = fc
    .record({ deliveredAtMs: moment, failedAtMs: moment, failingSinceMs: moment, recoveredAtMs: moment })
    .map(past);
  fc.assert(
    fc.property(any, any, (one, other) => {
      const joined = joinPast(one, other);
      expect(joined).toEqual(joinPast(other, one));
      expect(judge(joined).state).toBe(judgeHealth(DESTINATION, [report(one), report(other)], NO_ATTEMPTS).state);
    }),
  );
});
