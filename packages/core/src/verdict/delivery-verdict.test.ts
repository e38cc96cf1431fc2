import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AttemptRecord, DeferralRecord, LoggedDelivery, LoggedFollowUp } from "../delivery/attempt-record.ts";
import type { DeadLetterFact, DeliveryFacts } from "./delivery-facts.ts";
import { judgeDelivery } from "./delivery-verdict.ts";

const [A, B] = ["https://a.example/", "https://b.example/"];

const DELIVERY: LoggedDelivery = {
  messageId: "m1",
  sourceId: "src",
  destinationId: "dst",
  type: "track",
  receivedAtMs: 1000,
  userKey: "u1",
  event: "Order Completed",
  originPartition: 0,
  originOffset: 7,
  configOffset: 3,
  recordDelayMs: 0,
  recordPartition: 0,
  recordOffset: 9,
  recordTimestampMs: 1005,
  deferrals: 0,
  replayId: null,
};

const answer = (url: string, status: number | null, error: string | null = null) => ({
  ...{ url, status, error, durationMs: 40, answer: null },
});

function attempt(startedAtMs: number, differing: Partial<AttemptRecord> = {}): AttemptRecord {
  const urls = differing.urls ?? [answer(A, 503)];
  const outcome = urls.some(({ status }) => status === 200) ? "delivered" : "retryable";
  return { ...DELIVERY, attempt: 1, startedAtMs, outcome, urls, followUps: [], bodyBytes: 2, ...differing };
}

function retry(dueAtMs: number, urls: readonly string[] | null = null): LoggedFollowUp {
  return { kind: "retry", urls, delayMs: 10_000, dueAtMs, deadlineMs: 90_000, reason: null };
}

const dead = (urls: readonly string[] | null = null): LoggedFollowUp => ({
  ...{ kind: "dead_letter", urls, delayMs: null, dueAtMs: null, deadlineMs: null, reason: "window_expired" },
});

function deferral(deferredAtMs: number, differing: Partial<DeferralRecord> = {}): DeferralRecord {
  const plan = { delayMs: 10_000, dueAtMs: deferredAtMs + 10_000, deadlineMs: 90_000 };
  return { ...DELIVERY, attempts: 0, deferredAtMs, cause: "breaker_open", urls: null, ...plan, ...differing };
}

function deadLetter(deadAtMs: number, differing: Partial<DeadLetterFact> = {}): DeadLetterFact {
  const about = { reason: "window_expired", reasonClass: "receiver", attempts: 8, replayId: null };
  return { deadAtMs, ...about, lastAttempt: [], place: "0:4", ...differing };
}

const judge = (facts: Partial<DeliveryFacts>, nowMs = 1000) =>
  judgeDelivery({ attempts: [], deferrals: [], deadLetters: [], ...facts }, nowMs);

describe("the verdict on a delivery whose destination has another URL by now", () => {
  const facts: DeliveryFacts = {
    attempts: [attempt(10, { followUps: [dead()] }), attempt(30, { urls: [answer(B, 200)], replayId: "rpl_1" })],
    deferrals: [],
    deadLetters: [deadLetter(11, { lastAttempt: [{ url: A, status: 503, error: null }] })],
  };

  it("is that of the newest fact where one URL settles it", () => {
    expect(judgeDelivery(facts, 1000, "any")).toMatchObject({ cause: "delivered", url: B });
    const again = {
      ...facts,
      attempts: [...facts.attempts, attempt(40, { urls: [answer(B, 500)], followUps: [retry(50)] })],
    };
    expect(judgeDelivery(again, 1000, "any")).toMatchObject({ cause: "waiting_retry", dueAtMs: 50 });
  });

  it("is that of each URL where each settles by itself", () => {
    expect(judgeDelivery(facts, 1000, "each")).toMatchObject({ cause: "dead_letter", place: "0:4" });
    expect(judgeDelivery(facts, 1000)).toMatchObject({ cause: "dead_letter" });
  });
});

describe("the verdict on a delivery", () => {
  it("is none where nothing is known of it", () => {
    expect(judge({})).toBeNull();
  });

  it("names the URL that took it, when, and after how many tries", () => {
    const attempts = [
      attempt(2000, { followUps: [retry(12_000)] }),
      attempt(12_000, { attempt: 2, urls: [answer(A, 200)] }),
    ];
    expect(judge({ attempts })).toEqual({
      cause: "delivered",
      ...{ atMs: 12_040, url: A, durationMs: 40, tries: 2, others: [] },
    });
  });

  it("says what the other URLs answered where one of them took it", () => {
    const attempts = [attempt(2000, { urls: [answer(A, null, "timeout"), answer(B, 200)] })];
    expect(judge({ attempts })).toMatchObject({
      ...{ cause: "delivered_elsewhere", url: B, others: [{ url: A, status: null, error: "timeout" }] },
    });
    const both = [attempt(2000, { urls: [answer(A, 204), answer(B, 200)] })];
    expect(judge({ attempts: both })).toMatchObject({ cause: "delivered", url: A, others: [{ url: B, status: 200 }] });
  });

  it("names the next try, its end and the last answer while it waits for it", () => {
    expect(judge({ attempts: [attempt(2000, { followUps: [retry(12_000)] })] })).toEqual({
      cause: "waiting_retry",
      ...{ dueAtMs: 12_000, delayMs: 10_000, deadlineMs: 90_000, tries: 1, urls: null },
      last: [{ url: A, status: 503, error: null }],
    });
  });

  it("names why it was deferred, until an attempt says more", () => {
    const deferrals = [deferral(1500, { attempts: 0 })];
    expect(judge({ deferrals })).toEqual({
      ...{
        cause: "deferred",
        deferredCause: "breaker_open",
        sinceMs: 1500,
        dueAtMs: 11_500,
        deadlineMs: 90_000,
        tries: 0,
      },
    });
    expect(judge({ deferrals, attempts: [attempt(11_500, { followUps: [retry(21_500)] })] })).toMatchObject({
      cause: "waiting_retry",
    });
    expect(
      judge({ deferrals: [deferral(12_000)], attempts: [attempt(2000, { followUps: [retry(12_000)] })] }),
    ).toMatchObject({ cause: "deferred" });
  });

  it("says no more when it is looked at again once the first deferral is over", () => {
    const deferrals = [deferral(1500)];
    expect(judge({ deferrals }, 11_499)).toMatchObject({ cause: "deferred", sinceMs: 1500, dueAtMs: 11_500 });
    expect(judge({ deferrals }, 11_500)).toMatchObject({ cause: "deferred", sinceMs: 1500, dueAtMs: null });
  });

  it("is that of a deletion request where that ended it", () => {
    const deadLetters = [deadLetter(2050, { reason: "suppressed", attempts: 2 })];
    expect(judge({ deadLetters })).toEqual({ cause: "suppressed", atMs: 2050, tries: 2 });
    const attempts = [attempt(2000, { followUps: [{ ...dead(), reason: "suppressed" }] })];
    expect(judge({ attempts })).toEqual({ cause: "suppressed", atMs: 2000, tries: 1 });
  });

  it("names the dead letter, or the reason alone where the dead letter is not held", () => {
    const attempts = [attempt(2000, { attempt: 8, followUps: [dead()] })];
    const last = [{ url: A, status: 503, error: null }];
    expect(judge({ attempts })).toEqual({
      ...{ cause: "dead_letter", atMs: 2000, reason: "window_expired", reasonClass: null, tries: 8, last, place: null },
    });
    expect(judge({ attempts, deadLetters: [deadLetter(2050, { lastAttempt: last })] })).toEqual({
      ...{
        cause: "dead_letter",
        atMs: 2050,
        reason: "window_expired",
        reasonClass: "receiver",
        tries: 8,
        last,
        place: "0:4",
      },
    });
  });

  it("follows a dead letter that was sent again, in whatever order the facts are told", () => {
    const again = attempt(9000, { attempt: 1, replayId: "rpl_1", urls: [answer(A, 200)] });
    expect(judge({ deadLetters: [deadLetter(5000)], attempts: [again] })).toMatchObject({
      cause: "delivered",
      tries: 1,
    });
    const failed = attempt(9000, { replayId: "rpl_1", followUps: [retry(19_000)] });
    expect(judge({ deadLetters: [deadLetter(5000)], attempts: [failed] })).toMatchObject({
      cause: "waiting_retry",
      tries: 1,
    });
  });

  it("is the least finished of its URLs where each is retried on its own, and names those that were given up", () => {
    const first = attempt(2000, { urls: [answer(A, 200), answer(B, 503)], followUps: [retry(12_000, [B])] });
    expect(judge({ attempts: [first] })).toMatchObject({
      ...{ cause: "waiting_retry", urls: [B], last: [{ url: B, status: 503, error: null }] },
    });
    const last = attempt(12_000, { attempt: 2, urls: [answer(B, 503)], followUps: [dead([B])] });
    expect(judge({ attempts: [first, last] })).toMatchObject({ cause: "dead_letter", tries: 2 });
    const took = attempt(12_000, { attempt: 2, urls: [answer(B, 200)] });
    expect(judge({ attempts: [first, took] })).toMatchObject({ cause: "delivered", url: B, tries: 2 });
    const waits = attempt(12_000, { attempt: 2, urls: [answer(A, 503)], followUps: [retry(22_000, [A])] });
    const both = attempt(2000, { urls: [answer(A, 503), answer(B, 400)], followUps: [retry(12_000, [A]), dead([B])] });
    expect(
      judge({ attempts: [both, waits], deadLetters: [deadLetter(2001, { lastAttempt: [answer(B, 400)] })] }),
    ).toMatchObject({
      ...{ cause: "waiting_retry", urls: [A], tries: 2 },
      givenUp: { urls: [B] },
    });
    const waitsAlone = judge({ attempts: [first] });
    expect(waitsAlone).not.toHaveProperty("givenUp");
  });

  it("is that of what happened last to each URL, however often and in whatever order", () => {
    type Step = "fails" | "delivers" | "defers" | "dies";
    const step = fc.record({
      url: fc.constantFrom(A, B),
      does: fc.constantFrom<Step>("fails", "delivers", "defers", "dies"),
    });
    const CAUSE = { fails: "waiting_retry", delivers: "delivered", defers: "deferred", dies: "dead_letter" } as const;
    const ORDER: readonly Step[] = ["fails", "defers", "dies", "delivers"];
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.infiniteStream(fc.nat()), (steps, random) => {
        const lastOf = new Map<string, Step>();
        const attempts: AttemptRecord[] = [];
        const deferrals: DeferralRecord[] = [];
        for (const [index, { url, does }] of steps.entries()) {
          const atMs = 1000 * (index + 1);
          lastOf.set(url, does);
          if (does === "defers") deferrals.push(deferral(atMs, { urls: [url] }));
          else if (does === "delivers") attempts.push(attempt(atMs, { urls: [answer(url, 200)] }));
          else
            attempts.push(
              attempt(atMs, {
                urls: [answer(url, 503)],
                followUps: [does === "dies" ? dead([url]) : retry(atMs, [url])],
              }),
            );
        }
        const shuffled = <T>(list: readonly T[]): readonly T[] =>
          list
            .map((value) => [random.next().value ?? 0, value] as const)
            .sort(([a], [b]) => a - b)
            .map(([, value]) => value);
        const least = ORDER.find((each) => [...lastOf.values()].includes(each)) ?? "fails";
        const verdict = judge({ attempts: shuffled(attempts), deferrals: shuffled(deferrals) });
        expect(verdict?.cause).toBe(CAUSE[least]);
      }),
    );
  });
});
