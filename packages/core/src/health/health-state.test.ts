import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DestinationHealth, HealthOfUrl, LastAnswer } from "./health-record.ts";
import { isRecovered, judgeHealth, needsAttention, type OwedDeliveries, type RecentAttempts } from "./health-state.ts";

const URL_A = "https://a.example/";
const DESTINATION = { isEnabled: true, updatedAtMs: 5, urls: [URL_A, "https://b.example/"] };
const NOTHING = { reason: null, nextProbeMs: null, deliversAgainSinceMs: null };
const NO_ATTEMPTS: RecentAttempts = { delivered: 0, failed: 0, failingSinceMs: null };

const answer = (over: Partial<LastAnswer> = {}): LastAnswer => ({
  ...{ atMs: 1000, outcome: "retryable", status: 503, error: null, durationMs: 12 },
  ...over,
});
const urlHealth = (over: Partial<HealthOfUrl> = {}): HealthOfUrl => ({
  ...{ url: URL_A, breaker: "closed", openSinceMs: null, nextProbeMs: null, notBeforeMs: null, inFlight: 0 },
  answer: null,
  ...over,
});
const OPEN = { breaker: "open", openSinceMs: 900, nextProbeMs: 2000, answer: answer() } as const;
const health = (over: Partial<DestinationHealth> = {}): DestinationHealth => ({
  ...{ delivered: 0, retryable: 0, permanent: 0, deferred: {}, latencies: [], countedSinceMs: 1, waiting: 0 },
  ...{ deliveredAtMs: null, failedAtMs: null, failingSinceMs: null, recoveredAtMs: null, urls: [], failures: [] },
  ...over,
});

describe("the state of a destination", () => {
  it("HJ1: is off when it is configured so, whatever its breakers say", () => {
    const judged = judgeHealth(
      { ...DESTINATION, isEnabled: false },
      [health({ urls: [urlHealth(OPEN)] })],
      NO_ATTEMPTS,
    );
    expect(judged).toEqual({ ...NOTHING, state: "off", sinceMs: 5 });
  });

  it("HJ1: is open when a breaker of one process is not closed, and says since when, why and what comes next", () => {
    const half = urlHealth({ ...OPEN, breaker: "half_open", openSinceMs: 700, nextProbeMs: 3000 });
    const judged = judgeHealth(
      DESTINATION,
      [health({ urls: [urlHealth()] }), health({ urls: [urlHealth(OPEN)] }), health({ urls: [half] })],
      NO_ATTEMPTS,
    );
    expect(judged).toEqual({
      ...NOTHING,
      state: "open",
      sinceMs: 700,
      reason: { ...answer(), url: URL_A },
      nextProbeMs: 2000,
    });
  });

  it("HJ1: does not go by the breaker of a URL that it has no more", () => {
    const gone = health({ urls: [urlHealth({ ...OPEN, url: "https://old.example/" })] });
    expect(judgeHealth(DESTINATION, [gone], NO_ATTEMPTS).state).toBe("healthy");
  });

  it("HJ1: takes a breaker's state of a later release for one that is not closed", () => {
    const judged = judgeHealth(
      DESTINATION,
      [health({ urls: [urlHealth({ ...OPEN, breaker: "other" })] })],
      NO_ATTEMPTS,
    );
    expect(judged.state).toBe("open");
  });

  it.each([
    [95, 5, "healthy"],
    [94, 6, "failing"],
    [0, 1, "failing"],
    [0, 0, "healthy"],
  ])("HJ1: with %i delivered and %i failed in five minutes is %s", (delivered, failed, state) => {
    const held = [health({ deliveredAtMs: 2000, failedAtMs: 1000 })];
    expect(judgeHealth(DESTINATION, held, { delivered, failed, failingSinceMs: 1000 }).state).toBe(state);
  });

  it("HJ1: is failing when the newest attempt failed, however long ago, until any process delivers", () => {
    const failing = health({ failedAtMs: 3000, failingSinceMs: 1500, urls: [urlHealth({ answer: answer() })] });
    const judged = judgeHealth(DESTINATION, [failing, health({ deliveredAtMs: 1000 })], NO_ATTEMPTS);
    expect([judged.state, judged.sinceMs, judged.reason?.status]).toEqual(["failing", 1500, 503]);
    expect(judgeHealth(DESTINATION, [failing, health({ deliveredAtMs: 3001 })], NO_ATTEMPTS).state).toBe("healthy");
    // The other process delivered after this one's first failure.
    expect(judgeHealth(DESTINATION, [failing, health({ deliveredAtMs: 2000 })], NO_ATTEMPTS).sinceMs).toBe(3000);
    expect(judgeHealth(DESTINATION, [failing, health({ deliveredAtMs: 3000 })], NO_ATTEMPTS).state).toBe("healthy");
  });

  it("HJ1: is failing since too many failed, also where something was delivered between", () => {
    const held = [health({ deliveredAtMs: 200_000, failedAtMs: 300_000, failingSinceMs: 250_000 })];
    const sinceOf = (failingSinceMs: number | null) =>
      judgeHealth(DESTINATION, held, { delivered: 0, failed: 9, failingSinceMs }).sinceMs;
    expect(sinceOf(120_000)).toBe(120_000);
    const taken = [health({ deliveredAtMs: 4000, failedAtMs: 3000, failingSinceMs: null })];
    const recent = { delivered: 1, failed: 9 };
    expect(judgeHealth(DESTINATION, taken, { ...recent, failingSinceMs: 1200 }).sinceMs).toBe(1200);
    expect(judgeHealth(DESTINATION, taken, { ...recent, failingSinceMs: null }).sinceMs).toBe(3000);
  });

  it("HJ1: is failing since the first failure, to the moment, where that is of the first minute that failed", () => {
    const held = [health({ deliveredAtMs: 200_000, failedAtMs: 300_000, failingSinceMs: 250_000 })];
    const sinceOf = (failingSinceMs: number | null) =>
      judgeHealth(DESTINATION, held, { delivered: 0, failed: 9, failingSinceMs }).sinceMs;
    expect([240_000, 190_001, null].map(sinceOf)).toEqual([250_000, 250_000, 250_000]);
    // Too many failed in a minute before.
    expect([190_000, 180_000].map(sinceOf)).toEqual([190_000, 180_000]);
    // The process's counts of that minute came to be known later.
    expect(sinceOf(300_000)).toBe(250_000);
  });

  it("HJ2: names of an open one the newest failure of a URL whose breaker is not closed", () => {
    const closed = urlHealth({ url: "https://b.example/", answer: answer({ atMs: 9000, status: 401 }) });
    const held = [health({ urls: [closed, urlHealth(OPEN)] })];
    expect(judgeHealth(DESTINATION, held, NO_ATTEMPTS).reason).toMatchObject({ url: URL_A, status: 503 });
  });

  it("HJ2: names the newest failure as the reason, and nothing that delivered", () => {
    const [early, late] = [urlHealth({ answer: answer() }), urlHealth({ answer: answer({ atMs: 2000, status: 401 }) })];
    const well = urlHealth({ answer: answer({ atMs: 3000, outcome: "delivered", status: 200 }) });
    const held = [health({ failedAtMs: 3000, failingSinceMs: 1000, urls: [early, well] }), health({ urls: [late] })];
    expect(judgeHealth(DESTINATION, held, NO_ATTEMPTS).reason?.status).toBe(401);
  });

  it("HJ2: names an answer that went over its budget, though it delivered", () => {
    const over = answer({ outcome: "delivered", status: 200, error: "answer_over_budget" });
    const held = [health({ urls: [urlHealth({ ...OPEN, answer: over })] })];
    expect(judgeHealth(DESTINATION, held, NO_ATTEMPTS).reason).toMatchObject({ error: "answer_over_budget" });
  });

  it("says since when it is well again", () => {
    const held = [health({ deliveredAtMs: 9, recoveredAtMs: 7 }), health({ recoveredAtMs: 8 }), health()];
    expect(judgeHealth(DESTINATION, held, NO_ATTEMPTS)).toMatchObject({ state: "healthy", sinceMs: 8 });
  });

  it("does not depend on the order of the processes", () => {
    const moment = fc.option(fc.nat(100), { nil: null });
    const anyUrl = fc
      .record({ breaker: fc.constantFrom("closed", "open", "half_open"), openSinceMs: moment, nextProbeMs: moment })
      .chain((url) =>
        fc
          .option(fc.nat(1e6))
          .map((atMs) =>
            urlHealth({ ...url, answer: atMs === null ? null : answer({ atMs }) } as Partial<HealthOfUrl>),
          ),
      );
    const anyHealth = fc
      .record({
        deliveredAtMs: moment,
        failedAtMs: moment,
        failingSinceMs: moment,
        urls: fc.array(anyUrl, { maxLength: 2 }),
      })
      .map((over) => health(over));
    fc.assert(
      fc.property(fc.array(anyHealth, { maxLength: 4 }), (held) => {
        const [there, back] = [held, held.toReversed()].map((each) => judgeHealth(DESTINATION, each, NO_ATTEMPTS));
        expect(there).toEqual(back);
      }),
    );
  });
});

describe("whom a destination needs", () => {
  const FAILED: RecentAttempts = { delivered: 90, failed: 10, failingSinceMs: 1000 };
  const NOTHING_OWED: OwedDeliveries = { openDeadLetters: 0, waiting: 0 };
  const again = (...held: readonly Partial<DestinationHealth>[]) =>
    judgeHealth(
      DESTINATION,
      held.map((each) => health(each)),
      FAILED,
    );

  it.each([
    ["the newest attempt failed", [{ deliveredAtMs: 1000, failedAtMs: 2000, failingSinceMs: 2000 }], null],
    ["it recovered", [{ deliveredAtMs: 5000, failedAtMs: 2000, recoveredAtMs: 3000 }], 3000],
    [
      "two processes saw it recover",
      [
        { deliveredAtMs: 5000, failedAtMs: 1500, recoveredAtMs: 2500 },
        { deliveredAtMs: 4000, failedAtMs: 2000, recoveredAtMs: 3000 },
        { deliveredAtMs: 900, failedAtMs: 800, recoveredAtMs: 900 },
      ],
      2500,
    ],
    ["the one that delivers never saw it fail", [{ failedAtMs: 2000 }, { deliveredAtMs: 3000 }], 2000],
    ["no failure is known any more", [{ deliveredAtMs: 3000 }], 3000],
    ["nothing is known any more", [{}], null],
  ])("HJ3: tells since when a failing one delivers again: %s", (_, held, sinceMs) => {
    const judged = again(...held);
    expect([judged.state, judged.deliversAgainSinceMs, isRecovered(judged)]).toEqual([
      "failing",
      sinceMs,
      sinceMs !== null,
    ]);
  });

  it("HJ3: nobody, once a failing one delivers again and no dead letter is open and nothing waits", () => {
    const judged = again({ deliveredAtMs: 3000, failedAtMs: 2000, recoveredAtMs: 2500 });
    expect(needsAttention(judged, NOTHING_OWED, 3000)).toBe(false);
    expect(needsAttention(judged, { ...NOTHING_OWED, openDeadLetters: 1 }, 99_000)).toBe(true);
    expect(needsAttention(judged, { ...NOTHING_OWED, openDeadLetters: null }, 99_000)).toBe(true);
    const failing = again({ deliveredAtMs: 1000, failedAtMs: 2000 });
    expect(needsAttention(failing, NOTHING_OWED, 3000)).toBe(true);
  });

  it("HJ3: nobody though something waits, once no attempt failed for a minute", () => {
    const judged = again({ deliveredAtMs: 3000, failedAtMs: 2000, recoveredAtMs: 2500 });
    for (const waiting of [1, null]) {
      expect(needsAttention(judged, { openDeadLetters: 0, waiting }, 62_499)).toBe(true);
      expect(needsAttention(judged, { openDeadLetters: 0, waiting }, 62_500)).toBe(false);
    }
  });

  it("HJ3: somebody while a breaker is open, and nobody where it is healthy or off, whatever it owes", () => {
    const owed = { openDeadLetters: 5, waiting: 5 };
    const open = judgeHealth(DESTINATION, [health({ urls: [urlHealth(OPEN)] })], NO_ATTEMPTS);
    expect(needsAttention(open, NOTHING_OWED, 99_000)).toBe(true);
    expect(needsAttention(judgeHealth(DESTINATION, [health()], NO_ATTEMPTS), owed, 3000)).toBe(false);
    const off = judgeHealth({ ...DESTINATION, isEnabled: false }, [health()], FAILED);
    expect(needsAttention(off, owed, 3000)).toBe(false);
  });
});
