import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BreakerState, CircuitBreaker } from "./circuit-breaker.ts";

const SETTINGS = { threshold: 3, firstOpenMs: 100, longestOpenMs: 350 };

function opened(nowMs: number): CircuitBreaker {
  const breaker = new CircuitBreaker(SETTINGS);
  for (let failures = 0; failures < SETTINGS.threshold; failures++) breaker.failed(nowMs, false);
  return breaker;
}

describe("a breaker", () => {
  it("BR1: opens at so many failures in a row, and not when a success is among them", () => {
    const breaker = new CircuitBreaker(SETTINGS);
    breaker.failed(0, false);
    breaker.failed(0, false);
    breaker.succeeded();
    breaker.failed(0, false);
    breaker.failed(0, false);
    expect(breaker.state).toBe("closed");
    breaker.failed(0, false);
    expect(breaker.state).toBe("open");
    expect(breaker.admit(99)).toBe("refuse");
  });

  it("tells each change of its state", () => {
    const seen: BreakerState[] = [];
    const breaker = new CircuitBreaker({ ...SETTINGS, threshold: 1, onChange: (state) => seen.push(state) });
    breaker.succeeded();
    breaker.failed(0, false);
    breaker.admit(1000);
    breaker.cancelProbe();
    breaker.admit(1000);
    breaker.succeeded();
    expect(seen).toEqual(["open", "half_open", "half_open", "closed"]);
  });

  it("BR2: lets one probe through when its time has passed", () => {
    const breaker = opened(0);
    expect(breaker.admit(100)).toBe("probe");
    expect(breaker.admit(100)).toBe("refuse");
    expect(breaker.state).toBe("half_open");
  });

  it("BR3: says since when it is open, probes that failed included, and when the next probe may go", () => {
    const breaker = opened(50);
    expect([breaker.openedMs, breaker.nextProbeMs]).toEqual([50, 150]);
    breaker.admit(150);
    breaker.failed(200, true);
    expect([breaker.openedMs, breaker.nextProbeMs]).toEqual([50, 400]);
    breaker.admit(400);
    breaker.succeeded();
    expect([breaker.openedMs, breaker.nextProbeMs]).toEqual([null, null]);
  });

  it("BR3: closes when the probe succeeds", () => {
    const breaker = opened(0);
    breaker.admit(100);
    breaker.succeeded();
    expect(breaker.admit(100)).toBe("pass");
  });

  it("BR3: stays open for twice as long after each probe that fails, up to its longest", () => {
    const breaker = opened(0);
    let nowMs = 0;
    for (const openMs of [100, 200, 350, 350]) {
      expect(breaker.admit(nowMs + openMs - 1)).toBe("refuse");
      nowMs += openMs;
      expect(breaker.admit(nowMs)).toBe("probe");
      breaker.failed(nowMs, true);
    }
  });

  it("BR4: takes no notice of failures of calls that began before it opened", () => {
    const breaker = opened(0);
    breaker.failed(50, false);
    expect(breaker.admit(100)).toBe("probe");
    breaker.failed(110, false);
    expect(breaker.state).toBe("half_open");
    breaker.succeeded();
    expect(breaker.state).toBe("closed");
  });

  it("lets another probe through when one was given back", () => {
    const breaker = opened(0);
    breaker.admit(100);
    breaker.cancelProbe();
    expect(breaker.admit(100)).toBe("probe");
  });

  it("stays closed when a probe is given back that another call's success overtook", () => {
    const breaker = opened(0);
    breaker.admit(100);
    breaker.succeeded();
    breaker.cancelProbe();
    expect(breaker.state).toBe("closed");
  });

  it("BR1, BR3: opens by default at twenty failures, for a second at first and for half a minute at the most", () => {
    const breaker = new CircuitBreaker();
    for (let failures = 0; failures < 19; failures++) breaker.failed(0, false);
    expect(breaker.state).toBe("closed");
    breaker.failed(0, false);
    const probedAtMs: number[] = [];
    for (let nowMs = 0; probedAtMs.length < 7; nowMs += 500) {
      if (breaker.admit(nowMs) !== "probe") continue;
      breaker.failed(nowMs, true);
      probedAtMs.push(nowMs);
    }
    expect(probedAtMs).toEqual([1000, 3000, 7000, 15_000, 31_000, 61_000, 91_000]);
  });

  it("BR2: never has two probes out, whatever happens", () => {
    const step = fc.constantFrom("admit", "succeed", "fail", "probe-fails", "cancel", "wait");
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const breaker = new CircuitBreaker(SETTINGS);
        let nowMs = 0;
        let probes = 0;
        for (const each of steps) {
          if (each === "wait") nowMs += 120;
          if (each === "fail") breaker.failed(nowMs, false);
          if (each === "succeed") {
            breaker.succeeded();
            probes = 0;
          }
          if (each === "probe-fails" && probes > 0) {
            breaker.failed(nowMs, true);
            probes = 0;
          }
          if (each === "cancel" && probes > 0) {
            breaker.cancelProbe();
            probes = 0;
          }
          if (each === "admit" && breaker.admit(nowMs) === "probe") probes += 1;
          expect(probes).toBeLessThanOrEqual(1);
          expect(breaker.canAdmit(nowMs)).toBe(new Set(["pass", "probe"]).has(peek(breaker, nowMs)));
        }
      }),
    );
  });
});

/** The answer of `admit`, without its effect. */
function peek(breaker: CircuitBreaker, nowMs: number): string {
  const answer = breaker.admit(nowMs);
  if (answer === "probe") breaker.cancelProbe();
  return answer;
}
