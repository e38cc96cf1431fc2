import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AdmissionSettings, DestinationAdmission } from "./admission.ts";
import { ConnectionBudget, type HealthState } from "./connection-budget.ts";
import type { LoadContext } from "./load-context.ts";
import type { AdmissionRequest, Permit } from "./permit.ts";

const CONNECTIONS = 64;
/** For eighty destinations, of which sixty hang. */
const FEW_CONNECTIONS = 16;
const SETTINGS: AdmissionSettings = {
  limit: { first: 8, least: 1, enough: 16, most: 32 },
  breaker: { threshold: 20, firstOpenMs: 1000, longestOpenMs: 8000 },
  longestWaitMs: 10_000,
};
const AMONG_OTHERS: LoadContext = { isAlone: false, isFilling: false, isCrowding: false, isScarce: false };
const one: AdmissionRequest = { owed: null, isRetry: false };

function admissionIn(budget: ConnectionBudget): DestinationAdmission<AdmissionRequest> {
  const admission = new DestinationAdmission<AdmissionRequest>(SETTINGS, budget);
  admission.configure(["https://a.example/"], "any");
  return admission;
}

/** Takes the allowed requests for new destinations of the state, one each; returns their number. */
function takeOneEach(budget: ConnectionBudget, state: HealthState): number {
  let begun = 0;
  while (begun < 1000 && budget.allows(1, 0, state)) {
    budget.changed(1, state === "healthy" ? 0 : 1);
    begun += 1;
  }
  return begun;
}

/** As many as one destination is let. */
function takeAll(budget: ConnectionBudget, state: HealthState): number {
  let inFlight = 0;
  while (inFlight < 1000 && budget.allows(1, inFlight, state)) {
    budget.changed(1, state === "healthy" ? 0 : 1);
    inFlight += 1;
  }
  return inFlight;
}

describe("the connection budget", () => {
  it("CB1, CB2: gives eight to each of the first few that nothing is known of, and one to each that follows", () => {
    const budget = new ConnectionBudget(CONNECTIONS);
    expect(takeAll(budget, "unknown")).toBe(8);
    expect([takeAll(budget, "unknown"), takeAll(budget, "suspect")]).toEqual([1, 1]);
  });

  it("CB3: leaves an eighth to the healthy, and what those that hung may not have to the unknown", () => {
    const budget = new ConnectionBudget(CONNECTIONS);
    expect(takeOneEach(budget, "suspect")).toBe(32);
    expect(takeOneEach(budget, "unknown")).toBe(24);
    expect(budget.unconfirmed).toBe(56);
    expect(budget.allows(1, 0, "healthy")).toBe(true);
  });

  it("CB2: is there for a delivery of many requests when nobody else that is unconfirmed is out", () => {
    const budget = new ConnectionBudget(2);
    expect(budget.allows(5, 0, "unknown")).toBe(true);
    budget.changed(5, 5);
    expect(budget.allows(5, 0, "unknown")).toBe(false);
  });

  it("is busy while a quarter of all is out", () => {
    const budget = new ConnectionBudget(CONNECTIONS);
    budget.changed(15, 0);
    expect(budget.isBusy).toBe(false);
    budget.changed(1, 0);
    expect(budget.isBusy).toBe(true);
    budget.changed(-1, 0);
    expect([budget.isBusy, budget.out]).toEqual([false, 15]);
  });

  it("CB4: never refuses a healthy destination its first delivery, and gives it half of what is left for more", () => {
    const budget = new ConnectionBudget(CONNECTIONS);
    budget.changed(32, 0);
    expect(budget.most("healthy")).toBe(16);
    expect([budget.allows(4, 12, "healthy"), budget.allows(5, 12, "healthy")]).toEqual([true, false]);
    budget.changed(1000, 0);
    expect([budget.allows(5, 0, "healthy"), budget.allows(1, 1, "healthy"), budget.most("healthy")]).toEqual([
      true,
      false,
      1,
    ]);
  });

  it("CB1, CB2: lets a destination not known to be healthy have any number while few are out, and one then", () => {
    const budget = new ConnectionBudget(CONNECTIONS);
    budget.changed(7, 7);
    expect([budget.most("unknown"), budget.most("suspect")]).toEqual([Infinity, Infinity]);
    budget.changed(1, 1);
    expect([budget.most("unknown"), budget.most("suspect"), budget.most("healthy")]).toEqual([1, 1, 28]);
  });

  it("CB1: requests to healthy destinations, however many, hold no newcomer back", () => {
    const budget = new ConnectionBudget(CONNECTIONS);
    budget.changed(1000, 0);
    expect(budget.allows(8, 0, "unknown")).toBe(true);
  });

  it("CB4: healthy destinations that take all they are let leave connections free, however many they are", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 40 }), (sizes) => {
        const budget = new ConnectionBudget(CONNECTIONS);
        for (const size of sizes) {
          for (let inFlight = 0; budget.allows(size, inFlight, "healthy"); inFlight += size) {
            const isFirst = inFlight === 0;
            budget.changed(size, 0);
            if (!isFirst) expect(budget.out).toBeLessThan(CONNECTIONS);
          }
        }
      }),
    );
  });
});

/** Some hundred thousand of these are said; `expect` costs microseconds each. */
function hold(holds: boolean, what: string): void {
  if (!holds) throw new Error(`it does not hold that ${what}`);
}

describe("destinations that share the connections", () => {
  const step = fc.record({
    of: fc.nat(79),
    what: fc.constantFrom("arrive", "arrive", "arrive", "answer", "pass", "time out"),
  });

  it("CB3: those that never answer hold at most seven eighths, and a healthy one gets its request", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 100, maxLength: 500 }), (steps) => {
        const budget = new ConnectionBudget(FEW_CONNECTIONS);
        const destinations = Array.from({ length: 80 }, () => ({
          admission: admissionIn(budget),
          out: [] as Permit<AdmissionRequest>[],
          hasAnswered: false,
        }));
        let nowMs = 0;
        let all = 0;
        let hanging = 0;
        for (const { of, what } of steps) {
          const destination = destinations[of];
          if (destination === undefined) throw new Error("no such destination");
          const { admission, out } = destination;
          // Every fourth is healthy.
          const isHealthy = of % 4 === 0;
          const count = (requests: 1 | -1) => {
            all += requests;
            if (!isHealthy) hanging += requests;
          };
          const send = (permit: Permit<AdmissionRequest> | null) => {
            if (permit?.isGiven !== true) return;
            out.push(permit);
            count(1);
          };
          if (what === "arrive") {
            const wasFree = admission.isEmpty && admission.urls[0]?.breaker.state === "closed";
            const permit = admission.admit(one, nowMs, () => AMONG_OTHERS);
            send(permit);
            if (wasFree && destination.hasAnswered) hold(permit?.isGiven === true, "a healthy one gets its request");
          }
          if (what === "pass") {
            nowMs += 40;
            for (const each of destinations) each.admission.passed(40);
          }
          const ended =
            (what === "answer" && isHealthy) || (what === "time out" && !isHealthy) ? out.shift() : undefined;
          if (ended !== undefined) {
            count(-1);
            const health = ended.lines[0]?.health;
            const begun = { startedMs: ended.startedMs, wasProbe: ended.wasProbe(0) };
            health?.settled(isHealthy ? "delivered" : "timed_out", begun, nowMs);
            health?.ended(isHealthy ? "well" : "failed", begun.wasProbe, nowMs);
            destination.hasAnswered = isHealthy;
          }
          for (let next = admission.next(nowMs); next !== null; next = admission.next(nowMs)) send(next);
          hold(budget.out === all, "all that is out is counted");
          hold(budget.unconfirmed <= all, "what is unconfirmed is out");
          hold(hanging <= budget.unconfirmed, "what hangs is unconfirmed");
          hold(hanging <= (FEW_CONNECTIONS * 7) / 8, "what hangs holds seven eighths at the most");
        }
      }),
      { numRuns: 300 },
    );
  });
});
