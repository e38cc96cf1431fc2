import { describe, expect, it } from "vitest";
import { endOf } from "../../test/destination-admission.ts";
import { ConnectionBudget } from "./connection-budget.ts";
import { type RequestOutcome, UrlHealth, type UrlHealthSettings } from "./url-health.ts";

const SETTINGS: UrlHealthSettings = {
  limit: { first: 4, least: 1, enough: 64, most: 16 },
  breaker: { threshold: 5, firstOpenMs: 1000, longestOpenMs: 8000 },
};

function healthIn(
  shared: ConnectionBudget = new ConnectionBudget(1000),
  rememberedLimit: number | null = null,
): UrlHealth {
  return new UrlHealth("https://a.example/", SETTINGS, shared, rememberedLimit);
}

/** Begins as many requests as there is capacity for. */
function fill(health: UrlHealth, nowMs: number): number {
  let begun = 0;
  while (health.hasCapacity()) {
    health.take(nowMs);
    begun += 1;
  }
  return begun;
}

/** Begins as many requests as there is capacity for, each delivered at once and running on. Returns how many. */
function runOn(health: UrlHealth): number {
  let begun = 0;
  for (; health.hasCapacity(); begun++) {
    health.take(begun);
    health.settled("delivered", { startedMs: begun, wasProbe: false }, begun);
  }
  return begun;
}

function finish(health: UrlHealth, outcome: RequestOutcome, startedMs: number, nowMs: number): void {
  health.settled(outcome, { startedMs, wasProbe: false }, nowMs);
  health.ended(endOf(outcome), false, nowMs);
}

describe("the health of a URL", () => {
  it("UH1: counts a request towards the limit until its outcome, and apart from then to its end", () => {
    const health = healthIn();
    expect([fill(health, 0), health.unsettled, health.out]).toEqual([4, 4, 4]);
    health.settled("refused", { startedMs: 0, wasProbe: false }, 10);
    expect([health.unsettled, health.out, health.hasCapacity()]).toEqual([3, 4, true]);
    health.ended("well", false, 10);
    expect([health.unsettled, health.out]).toEqual([3, 3]);
  });

  it("UH1: has a bound for what runs on: a receiver whose bodies never end is not called without end", () => {
    const health = healthIn();
    health.take(0);
    finish(health, "delivered", 0, 0);
    expect(runOn(health)).toBe(16);
    health.ended("well", false, 10);
    expect(health.hasCapacity()).toBe(true);
  });

  it("UH8: has no more requests out than failures are left, until one has ended well", () => {
    const health = healthIn();
    expect(runOn(health)).toBe(5);
    health.ended("over_budget", false, 5000);
    health.ended("over_budget", false, 5000);
    expect([health.out, health.hasCapacity(), health.hasCapacityBeside()]).toEqual([3, false, false]);
    health.ended("well", false, 5000);
    expect([runOn(health), health.out]).toEqual([14, 16]);
  });

  it("UH8: has so many from the next failure on again, and its breaker opens after as many as it takes", () => {
    const health = healthIn(undefined, 16);
    expect(runOn(health)).toBe(16);
    for (let index = 0; index < 16; index++) health.ended(index < 15 ? "well" : "over_budget", false, index);
    expect([runOn(health), health.breaker.state]).toEqual([4, "closed"]);
    for (let index = 0; index < 4; index++) health.ended("over_budget", false, 5000);
    expect(health.breaker.state).toBe("open");
  });

  it("UH8: stalls while what runs on keeps it from its next request", () => {
    const health = healthIn();
    runOn(health);
    health.passed(1501);
    expect([health.isStalled, health.isWaitedForBeside(0, 1501)]).toEqual([true, false]);
  });

  it("UH1: an outcome is a sign of life, whatever still runs", () => {
    const health = healthIn();
    fill(health, 0);
    health.passed(1501);
    expect([health.isStalled, health.isSound]).toEqual([true, false]);
    health.settled("delivered", { startedMs: 0, wasProbe: false }, 1501);
    expect([health.isStalled, health.isSound]).toEqual([false, true]);
  });

  it("is idle with nothing out, its breaker closed and no Retry-After left, and healthy once an answer came", () => {
    const health = healthIn();
    expect([health.isIdle(0), health.isHealthy]).toEqual([true, false]);
    health.take(0);
    expect(health.isIdle(0)).toBe(false);
    finish(health, "delivered", 0, 1);
    expect([health.isIdle(1), health.isHealthy]).toEqual([true, true]);
    health.shutUntil(100);
    expect([health.isIdle(99), health.isIdle(100)]).toEqual([false, true]);
    for (let failure = 0; failure < 5; failure++) {
      health.take(100);
      finish(health, "failed", 100, 101);
    }
    expect([health.breaker.state, health.isIdle(1_000_000)]).toEqual(["open", false]);
  });

  it("stalls later when its requests usually take long, and not while nothing is out", () => {
    const health = healthIn();
    health.passed(5000);
    expect(health.isStalled).toBe(false);
    health.take(0);
    finish(health, "delivered", 0, 2000);
    health.take(2000);
    health.passed(3000);
    expect([health.isQuiet, health.isStalled]).toEqual([false, false]);
    health.passed(1);
    expect([health.isQuiet, health.isStalled]).toEqual([true, true]);
  });

  it("UH2: says what stands against a request: the breaker's time, a receiver's wish, or one that ends soon", () => {
    const health = healthIn();
    expect(health.obstacle(0)).toBeNull();
    for (let index = 0; index < 5; index++) {
      health.take(0);
      finish(health, "failed", 0, 0);
    }
    expect([health.obstacle(999), health.obstacle(1000)]).toEqual(["breaker_open", null]);
    health.shutUntil(5000);
    expect([health.obstacle(4000), health.obstacle(4001), health.obstacle(5000)]).toEqual([
      "retry_after",
      "soon",
      null,
    ]);
  });

  it("UH3: is not sound after a timeout or a plea for less until another answer, nor while it is open", () => {
    const health = healthIn();
    expect(health.isSound).toBe(true);
    health.take(0);
    finish(health, "timed_out", 0, 5000);
    expect(health.isSound).toBe(false);
    health.take(5000);
    finish(health, "throttled", 5000, 5001);
    expect(health.isSound).toBe(false);
    health.take(5500);
    finish(health, "failed", 5500, 5501);
    expect(health.isSound).toBe(true);
    for (let index = 0; index < 5; index++) {
      health.take(6000);
      finish(health, "failed", 6000, 6000);
    }
    expect(health.isSound).toBe(false);
  });

  it("has more capacity than its limit beside another URL that settles, once it is known to answer", () => {
    const health = healthIn();
    fill(health, 0);
    expect(health.hasCapacityBeside()).toBe(false);
    finish(health, "refused", 0, 1);
    while (health.hasCapacityBeside()) health.take(1);
    expect(health.unsettled).toBe(16);
  });

  it("takes the one probe of an open breaker, and gives it back when it is not sent", () => {
    const health = healthIn();
    for (let index = 0; index < 5; index++) {
      health.take(0);
      finish(health, "failed", 0, 0);
    }
    expect(health.take(1000)).toBe(true);
    expect(health.obstacle(1000)).toBe("breaker_open");
    health.cancelled(true);
    expect(health.obstacle(1000)).toBeNull();
    expect(health.take(1000)).toBe(true);
    health.settled("delivered", { startedMs: 1000, wasProbe: true }, 1010);
    expect([health.breaker.state, health.unsettled, health.out]).toEqual(["half_open", 0, 1]);
    health.ended("well", true, 1020);
    expect([health.breaker.state, health.out]).toEqual(["closed", 0]);
  });

  it("starts with a first limit again when its breaker closes: it had fallen by a dead receiver", () => {
    const health = healthIn();
    for (let index = 0; index < 5; index++) {
      health.take(0);
      finish(health, "timed_out", index, 5000 + index);
    }
    expect(health.limit).toBeLessThan(4);
    health.take(7000);
    health.settled("delivered", { startedMs: 7000, wasProbe: true }, 7001);
    health.ended("well", true, 7001);
    expect(health.limit).toBeGreaterThanOrEqual(4);
  });

  it("UH1: counts an answer that went over its budget after a good status as a failure, for the breaker alone", () => {
    const health = healthIn();
    for (let index = 0; index < 5; index++) {
      health.take(index);
      health.settled("delivered", { startedMs: index, wasProbe: false }, index);
      expect(health.breaker.state).toBe("closed");
      health.ended("over_budget", false, index);
    }
    expect([health.breaker.state, health.isHealthy, health.obstacle(5)]).toEqual(["open", true, "breaker_open"]);
    health.take(1004);
    health.settled("delivered", { startedMs: 1004, wasProbe: true }, 1005);
    health.ended("over_budget", true, 1005);
    // The probe failed, so that the next one goes after twice the time.
    expect([health.breaker.state, health.breaker.nextProbeMs]).toEqual(["open", 3005]);
  });

  it("UH4: is counted among those not known to be healthy until something comes back", () => {
    const shared = new ConnectionBudget(1000);
    const health = healthIn(shared);
    fill(health, 0);
    expect([shared.out, shared.unconfirmed]).toEqual([4, 4]);
    health.settled("failed", { startedMs: 0, wasProbe: false }, 1);
    expect([shared.out, shared.unconfirmed]).toEqual([4, 0]);
    health.passed(201);
    expect([shared.out, shared.unconfirmed]).toEqual([4, 4]);
    health.ended("well", false, 10);
    expect([shared.out, shared.unconfirmed]).toEqual([3, 3]);
  });

  it("UH4: stalls as one that hangs does while the connection budget refuses it its first request", () => {
    const shared = new ConnectionBudget(64);
    shared.changed(56, 56);
    const health = healthIn(shared);
    expect([health.hasCapacity(), health.hasCapacity()]).toEqual([false, false]);
    health.passed(1500);
    expect(health.isStalled).toBe(false);
    health.passed(1);
    expect(health.isStalled).toBe(true);
    shared.changed(-1, -1);
    expect(health.hasCapacity()).toBe(true);
    health.take(1001);
    expect(health.isStalled).toBe(false);
  });

  it("starts with what it was seen to manage, within its bounds", () => {
    expect([healthIn(undefined, 9.5).limit, healthIn(undefined, 1000).limit, healthIn().limit]).toEqual([9, 16, 4]);
  });

  it("is trusted again when its destination was changed", () => {
    const health = healthIn();
    for (let index = 0; index < 5; index++) {
      health.take(0);
      finish(health, "timed_out", 0, 5000);
    }
    health.shutUntil(60_000);
    health.reset();
    expect([health.isSound, health.obstacle(5000), health.limit, health.isIdle(5000)]).toEqual([true, null, 4, true]);
  });

  it("expects no wait of one that is quick and not congested, and one by its limit of any other", () => {
    const quick = healthIn();
    quick.take(0);
    finish(quick, "delivered", 0, 249);
    expect(quick.expectedWaitMs(5000, 300)).toBe(0);
    const slow = healthIn();
    slow.take(0);
    finish(slow, "throttled", 0, 400);
    // Halved to two at once: ten behind each other take five times 400 ms.
    expect(slow.expectedWaitMs(10, 400)).toBe(2000);
  });

  it("UH6: is waited for beside another while it will have capacity soon: not quiet, asked off or congested", () => {
    const well = healthIn();
    expect(well.isWaitedForBeside(1000, 0)).toBe(true);
    well.take(0);
    well.passed(200);
    expect(well.isWaitedForBeside(0, 200)).toBe(true);
    well.passed(1);
    expect(well.isWaitedForBeside(0, 201)).toBe(false);
    finish(well, "delivered", 0, 201);
    expect(well.isWaitedForBeside(0, 201)).toBe(true);
    well.shutUntil(1000);
    expect([well.isWaitedForBeside(0, 750), well.isWaitedForBeside(0, 751)]).toEqual([false, true]);

    const congested = healthIn();
    for (const outcome of ["throttled", "delivered"] as const) {
      congested.take(0);
      finish(congested, outcome, 0, 200);
      expect(congested.isWaitedForBeside(0, 200)).toBe(outcome === "delivered");
    }
    // Its limit is 2 and a bit, and each takes 200 ms.
    expect([congested.isWaitedForBeside(2, 200), congested.isWaitedForBeside(3, 200)]).toEqual([true, false]);
  });

  it("UH6: is not waited for beside another URL while most of its requests hang, though some come back", () => {
    const health = healthIn();
    for (let hanging = 0; hanging < 3; hanging++) health.take(0);
    const answerOne = (nowMs: number) => {
      health.take(nowMs);
      finish(health, "delivered", nowMs - 10, nowMs);
      health.passed(20);
    };
    for (let nowMs = 20; nowMs <= 400; nowMs += 20) answerOne(nowMs);
    expect([health.isSound, health.isQuiet, health.isWaitedForBeside(0, 400)]).toEqual([true, false, false]);
    for (let hanging = 0; hanging < 3; hanging++) finish(health, "refused", 390, 400);
    expect(health.unsettled).toBe(0);
    health.passed(20);
    expect(health.isWaitedForBeside(0, 400)).toBe(true);
  });

  it("UH6: is waited for beside another URL while as many answers come back as its requests take", () => {
    const health = healthIn();
    for (let nowMs = 0; nowMs <= 400; nowMs += 20) {
      fill(health, nowMs);
      health.passed(20);
      while (health.unsettled > 0) finish(health, "refused", nowMs, nowMs + 20);
      fill(health, nowMs + 20);
    }
    expect(health.isWaitedForBeside(0, 420)).toBe(true);
  });

  it("UH7, I7: has one request out, rests between two and is waited for that long while its answers are dear", () => {
    const health = healthIn();
    for (let index = 0; index < 50; index++) {
      health.take(index * 100);
      health.settled("delivered", { startedMs: index * 100, wasProbe: false }, index * 100 + 5);
      health.ended("well", false, index * 100 + 5, 2);
    }
    expect([health.obstacle(4906), health.obstacle(4924)]).toEqual(["soon", null]);
    expect([fill(health, 4924), health.out, health.hasCapacityBeside()]).toEqual([1, 1, false]);
    expect(health.expectedWaitMs(50, 4924)).toBeGreaterThan(900);
    expect(health.keepsUp(4924)).toBe(false);
  });

  it("does not count the time for which this process was blocked as time that the receiver needs", () => {
    const health = healthIn();
    health.take(0);
    health.settled("delivered", { startedMs: 0, wasProbe: false }, 1000, 900);
    expect(health.expectedWaitMs(5000, 1000)).toBe(0);
  });
});
