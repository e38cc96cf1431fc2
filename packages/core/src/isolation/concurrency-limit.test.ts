import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConcurrencyLimit, DEFAULT_LIMIT } from "./concurrency-limit.ts";

const SETTINGS = { first: 4, least: 1, enough: 16, most: 64 };
const SLOW_MS = 100;
const QUICK_MS = 2;

/** A round: as many successes as the limit allows at once. */
function round(limit: ConcurrencyLimit, holdMs = SLOW_MS): void {
  const { value } = limit;
  for (let request = 0; request < value; request++) limit.succeeded(value, holdMs);
}

describe("an adaptive limit", () => {
  it("CL2: doubles with each round until the first congestion, and rises by one a round after it", () => {
    const limit = new ConcurrencyLimit(SETTINGS);
    round(limit);
    round(limit);
    expect(limit.value).toBe(16);
    limit.congested(0, 1);
    expect(limit.value).toBe(8);
    round(limit);
    round(limit);
    expect(limit.value).toBeGreaterThanOrEqual(9);
    expect(limit.value).toBeLessThanOrEqual(10);
  });

  it("CL3: does not rise while less than half of it is used", () => {
    const limit = new ConcurrencyLimit(SETTINGS);
    for (let request = 0; request < 100; request++) limit.succeeded(1, SLOW_MS);
    expect(limit.value).toBe(4);
  });

  it("CL5: falls to what a quick receiver has enough of, and rises for a slow one", () => {
    const limit = new ConcurrencyLimit(SETTINGS);
    for (let times = 0; times < 10; times++) round(limit);
    expect(limit.value).toBe(64);
    for (let times = 0; times < 10; times++) round(limit, QUICK_MS);
    expect(limit.value).toBe(16);
    for (let times = 0; times < 10; times++) round(limit);
    expect(limit.value).toBe(64);
  });

  it("CL3: rises when half of it is used", () => {
    const limit = new ConcurrencyLimit(SETTINGS);
    limit.succeeded(2, SLOW_MS);
    expect(limit.value).toBe(5);
  });

  it("CL5: rises to what a quick receiver has enough of as for any other, and falls to it by one a success", () => {
    const limit = new ConcurrencyLimit(SETTINGS);
    limit.succeeded(4, QUICK_MS);
    expect(limit.value).toBe(5);
    for (let times = 0; times < 10; times++) round(limit, QUICK_MS);
    expect(limit.value).toBe(16);
    const [high, low] = [new ConcurrencyLimit(SETTINGS, 64), new ConcurrencyLimit(SETTINGS, 16)];
    for (const each of [high, low]) each.succeeded(64, QUICK_MS);
    expect([high.value, low.value]).toEqual([63, 16]);
  });

  it("CL5: takes a receiver for quick that answers within twenty milliseconds", () => {
    const [quick, slow] = [new ConcurrencyLimit(SETTINGS, 64), new ConcurrencyLimit(SETTINGS, 32)];
    quick.succeeded(64, 20);
    slow.succeeded(64, 21);
    expect([quick.value, slow.value]).toEqual([63, 33]);
  });

  it("CL4: is halved once for all requests that began before the halving", () => {
    const limit = new ConcurrencyLimit(SETTINGS);
    for (let request = 0; request < 4; request++) limit.congested(request, 5000);
    expect(limit.value).toBe(2);
    limit.congested(5000, 10_000);
    expect(limit.value).toBe(1);
  });

  it("CL1: stays within its bounds, whatever happens", () => {
    const step = fc.tuple(fc.boolean(), fc.nat(100), fc.nat(10));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const limit = new ConcurrencyLimit(SETTINGS);
        let nowMs = 0;
        for (const [success, inFlight, passedMs] of steps) {
          nowMs += passedMs;
          if (success) limit.succeeded(inFlight, SLOW_MS);
          else limit.congested(nowMs - 3, nowMs);
          expect(limit.value).toBeGreaterThanOrEqual(SETTINGS.least);
          expect(limit.value).toBeLessThanOrEqual(SETTINGS.most);
          expect(limit.waitMs(10, 5)).toBeGreaterThan(0);
        }
      }),
    );
  });

  it("knows whether it was halved lately", () => {
    const limit = new ConcurrencyLimit(SETTINGS);
    expect(limit.wasHalved(0, 1000)).toBe(false);
    limit.congested(0, 10);
    expect([limit.wasHalved(1009, 1000), limit.wasHalved(1010, 1000)]).toEqual([true, false]);
  });

  it("expects of a queue what rounds that double, up to the most, make of it", () => {
    const limit = new ConcurrencyLimit({ ...DEFAULT_LIMIT, enough: 512 });
    for (const queued of [8, 56, 504, 2552, 5000]) {
      const rounds: number[] = [];
      for (let served = 0, round = 8; served < queued; round = Math.min(2 * round, 512)) {
        served += round;
        rounds.push(round);
      }
      expect(Math.abs(limit.waitMs(queued, 1000) / 1000 - rounds.length)).toBeLessThanOrEqual(1);
    }
  });

  it("expects a queue to shrink by rounds that grow while it rises, and by equal rounds after", () => {
    const limit = new ConcurrencyLimit(SETTINGS);
    expect(limit.waitMs(60, 10)).toBeLessThan(60);
    // Sixteen times the first is the most, after four rounds; one round of it is left then.
    expect(limit.waitMs(60 + 64, 10)).toBe(50);
    limit.congested(0, 1);
    expect(limit.waitMs(60, 10)).toBe(300);
    limit.reset();
    expect(limit.waitMs(60, 10)).toBeLessThan(60);
  });
});
