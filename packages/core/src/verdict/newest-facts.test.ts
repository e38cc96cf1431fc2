import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AttemptRecord, DeferralRecord, LoggedDelivery, LoggedFollowUp } from "../delivery/attempt-record.ts";
import type { DeadLetterFact, DeliveryFacts } from "./delivery-facts.ts";
import { stateOf } from "./delivery-state.ts";
import { judgeDelivery } from "./delivery-verdict.ts";
import { addFacts, lastFact } from "./newest-facts.ts";

const NOTHING: DeliveryFacts = { attempts: [], deferrals: [], deadLetters: [] };
const URLS = ["https://a.example/", "https://b.example/", "https://c.example/"];

const DELIVERY: LoggedDelivery = {
  ...{ messageId: "m1", sourceId: "src", destinationId: "dst", type: "track", receivedAtMs: 1000, userKey: "u1" },
  ...{ event: null, originPartition: 0, originOffset: 7, configOffset: 3, recordDelayMs: 0, recordPartition: 0 },
  ...{ recordOffset: 9, recordTimestampMs: 1005, deferrals: 0, replayId: null },
};

const some = fc.subarray(URLS, { minLength: 1 });
const someOrAll = fc.option(some, { nil: null });
// Few moments, so that many facts fall on one.
const moment = fc.integer({ min: 1, max: 12 });
const followUp = fc.record<LoggedFollowUp>({
  kind: fc.constantFrom("retry", "dead_letter"),
  urls: someOrAll,
  delayMs: fc.constantFrom(10_000, 30_000),
  dueAtMs: moment,
  deadlineMs: fc.constant(90_000),
  reason: fc.constantFrom("window_expired", "suppressed"),
});
const attempt = fc
  .record({
    urls: some,
    statuses: fc.array(fc.constantFrom(200, 503, 401), { minLength: 3, maxLength: 3 }),
    startedAtMs: moment,
    attempt: fc.integer({ min: 1, max: 3 }),
    followUps: fc.array(followUp, { maxLength: 2 }),
  })
  .map(({ urls, statuses, ...rest }): AttemptRecord => {
    const called = urls.map((url, index) => ({
      ...{ url, status: statuses[index] ?? 503, error: null, durationMs: 1, answer: null },
    }));
    const outcome = called.some(({ status }) => status === 200) ? "delivered" : "retryable";
    return { ...DELIVERY, ...rest, outcome, urls: called, bodyBytes: 2 };
  });
const deferral = fc.record({ deferredAtMs: moment, urls: someOrAll }).map(
  (differing): DeferralRecord => ({
    ...DELIVERY,
    ...{ attempts: 0, cause: "breaker_open", delayMs: 10_000, dueAtMs: 20, deadlineMs: null, ...differing },
  }),
);
const deadLetter = fc.record({ deadAtMs: moment, urls: someOrAll, offset: fc.nat(3) }).map(
  ({ deadAtMs, urls, offset }): DeadLetterFact => ({
    ...{ deadAtMs, reason: "window_expired", reasonClass: "receiver", attempts: 8, replayId: null },
    lastAttempt: (urls ?? []).map((url) => ({ url, status: 503, error: null })),
    place: `0:${offset}`,
  }),
);
const fact = fc.oneof(
  attempt.map((each): DeliveryFacts => ({ ...NOTHING, attempts: [each] })),
  deferral.map((each): DeliveryFacts => ({ ...NOTHING, deferrals: [each] })),
  deadLetter.map((each): DeliveryFacts => ({ ...NOTHING, deadLetters: [each] })),
);
const shuffled = fc
  .array(fact, { minLength: 1, maxLength: 14 })
  .chain((facts) =>
    fc.tuple(fc.constant(facts), fc.shuffledSubarray([...facts, ...facts], { minLength: facts.length * 2 })),
  );

const joinAll = (facts: readonly DeliveryFacts[]): DeliveryFacts =>
  facts.reduce((known, more) => addFacts(known, more), NOTHING);

describe("the facts of a delivery that are kept", () => {
  it("are the same in whatever order the facts come, and however often", () => {
    fc.assert(
      fc.property(shuffled, ([facts, again]) => {
        expect(joinAll(again)).toEqual(joinAll(facts));
      }),
      { numRuns: 1000 },
    );
  });

  it("lead to the verdict that all of them lead to", () => {
    fc.assert(
      fc.property(shuffled, ([facts, again]) => {
        const all = {
          attempts: facts.flatMap(({ attempts }) => attempts),
          deferrals: facts.flatMap(({ deferrals }) => deferrals),
          deadLetters: facts.flatMap(({ deadLetters }) => deadLetters),
        };
        const kept = joinAll(again);
        expect(judgeDelivery(kept, 6)).toEqual(judgeDelivery(all, 6));
        expect(lastFact(kept)).toEqual(lastFact(all));
        const newest = (held: DeliveryFacts) => lastFact({ ...NOTHING, attempts: held.attempts });
        expect(newest(kept)).toEqual(newest(all));
      }),
      { numRuns: 1000 },
    );
  });

  it("stay few, however often a delivery is tried", () => {
    let known = NOTHING;
    const urls = URLS.map((url) => ({ url, status: 503, error: null, durationMs: 1, answer: null }));
    for (let n = 1; n <= 30; n += 1) {
      const retry: LoggedFollowUp = {
        ...{ kind: "retry", urls: null, delayMs: 10_000, dueAtMs: n + 1, deadlineMs: 90_000, reason: null },
      };
      const made: AttemptRecord = {
        ...DELIVERY,
        attempt: n,
        startedAtMs: n,
        outcome: "retryable",
        urls,
        followUps: [retry],
        bodyBytes: 2,
      };
      known = addFacts(known, { ...NOTHING, attempts: [made] });
    }
    expect(known.attempts.map((each) => each.attempt)).toEqual([30]);
    expect(stateOf(known, 0)).toMatchObject({ state: "waiting_retry", verdict: { tries: 30 } });
  });
});
