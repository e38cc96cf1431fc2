import fc from "fast-check";
import { expect, it } from "vitest";
import { TokenBucket } from "./token-bucket.ts";

it("lets no more through than its rate, over any second, but for its burst and the size of one attempt", () => {
  const arrival = fc.record({ afterMs: fc.nat(100), requests: fc.integer({ min: 1, max: 5 }) });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.array(arrival, { maxLength: 300 }), (perSecond, arrivals) => {
      const rate = new TokenBucket(perSecond, 0);
      const sent: { atMs: number; requests: number }[] = [];
      let nowMs = 0;
      for (const { afterMs, requests } of arrivals) {
        nowMs += afterMs;
        if (!rate.hasToken(nowMs)) continue;
        rate.take(requests, nowMs);
        sent.push({ atMs: nowMs, requests });
      }
      for (const { atMs } of sent) {
        const inSecond = sent.filter((each) => each.atMs >= atMs && each.atMs < atMs + 1000);
        const total = inSecond.reduce((sum, { requests }) => sum + requests, 0);
        expect(total).toBeLessThanOrEqual(perSecond + Math.max(1, perSecond / 10) + 5);
      }
    }),
  );
});

it("says how long a queue takes", () => {
  const rate = new TokenBucket(10, 0);
  rate.take(1, 0);
  expect(rate.waitMs(5, 0)).toBe(500);
  expect(rate.waitMs(5, 200)).toBe(400);
});

it("keeps what it knows when the rate changes", () => {
  const rate = new TokenBucket(10, 0);
  rate.take(1, 0);
  rate.change(1000, 0);
  expect(rate.perSecond).toBe(1000);
  expect(rate.hasToken(0)).toBe(false);
  expect(rate.hasToken(1)).toBe(true);
});

it("counts the time before a change at the rate that was", () => {
  const rate = new TokenBucket(10, 0);
  rate.take(1, 0);
  rate.change(1000, 50);
  expect(rate.hasToken(50)).toBe(false);
});

it("gains nothing for time that went by before what was taken, whether or not it was asked meanwhile", () => {
  const rate = new TokenBucket(10, 0);
  rate.take(1, 1000);
  expect(rate.hasToken(1000)).toBe(false);
});

it("takes back what was not sent, and no more than its burst", () => {
  const rate = new TokenBucket(10, 0);
  rate.take(5, 0);
  rate.giveBack(2);
  expect(rate.waitMs(0, 0)).toBe(200);
  rate.giveBack(50);
  expect(rate.waitMs(2, 0)).toBe(100);
});

it("with a burst of a second: lets as many go as its rate has room for, however unevenly it is asked, and never more", () => {
  const rates = fc.integer({ min: 1, max: 5000 });
  const steps = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(rates, steps, (perSecond, stepsMs) => {
      const pace = new TokenBucket(perSecond, 100, 1);
      let [nowMs, taken] = [100, 0];
      for (const stepMs of stepsMs) {
        nowMs += stepMs;
        const allowed = pace.allowed(nowMs);
        pace.take(allowed, nowMs);
        taken += allowed;
        const due = ((nowMs - 100) / 1000) * perSecond;
        expect(taken).toBeLessThanOrEqual(due + 1e-6);
        expect(taken).toBeGreaterThan(due - 1.001);
      }
    }),
  );
});

it("with a burst of a second: catches up with a second of what was held up, and no more", () => {
  const pace = new TokenBucket(10, 0, 1);
  expect(pace.allowed(60_000)).toBe(11);
  pace.take(11, 60_000);
  expect([pace.allowed(60_050), pace.allowed(60_100)]).toEqual([0, 1]);
});
