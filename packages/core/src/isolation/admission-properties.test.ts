/** Invariants of admission for any order of arrivals, ends, waits and changes. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  A,
  ALONE,
  AMONG_OTHERS,
  admissionOf,
  B,
  CROWDING,
  endOf,
  type Given,
  SCARCE,
} from "../../test/destination-admission.ts";
import { ConnectionBudget } from "./connection-budget.ts";
import type { RequestOutcome } from "./url-health.ts";

describe("whatever happens", () => {
  const step = fc.record({
    what: fc.constantFrom("arrive", "arrive", "arrive", "last", "outcome", "outcome", "end", "wait", "serve", "shut"),
    owed: fc.constantFrom(null, null, [A], [B]),
    isRetry: fc.boolean(),
    pick: fc.nat(1000),
    outcome: fc.constantFrom<RequestOutcome>("delivered", "refused", "failed", "timed_out", "throttled"),
    passedMs: fc.nat(900),
    context: fc.constantFrom(AMONG_OTHERS, ALONE, CROWDING, SCARCE),
  });

  it.each(["any", "each"] as const)(
    "J1, settle %s: each URL that a delivery owes is called or deferred once, or waits",
    (settle) => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 200 }), fc.boolean(), (steps, hasRate) => {
          const shared = new ConnectionBudget(64);
          const admission = admissionOf([A, B], settle, shared);
          const unsettled: { permit: Given; index: number }[] = [];
          const runningOn: { permit: Given; index: number; outcome: RequestOutcome }[] = [];
          let nowMs = 0;
          if (hasRate) admission.setRate(50, 0);
          const counts = { arrived: 0, decided: 0 };
          const decide = (permit: Given): void => {
            counts.decided += 1;
            const { request, lines, deferred, isGiven } = permit;
            const deferredUrls = deferred.flatMap(({ urls }) => urls);
            const called = isGiven ? lines.map(({ health }) => health.url) : [];
            if (isGiven) unsettled.push(...lines.map((_, index) => ({ permit, index })));
            const seen = [...called, ...deferredUrls].sort();
            if (settle === "each" || !isGiven) expect(seen).toEqual(request.owed ?? [A, B]);
            else expect(called.length).toBeGreaterThan(0);
            expect(new Set(seen).size).toBe(seen.length);
          };
          for (const { what, owed, isRetry, pick, outcome, passedMs, context } of steps) {
            if (what === "arrive") {
              counts.arrived += 1;
              const permit = admission.admit({ owed, isRetry }, nowMs, () => context);
              if (permit !== null) decide(permit);
            }
            if (what === "last") {
              const permit = admission.admitLast({ owed, isRetry }, nowMs);
              if (permit !== "full") counts.arrived += 1;
              if (permit !== "full" && permit !== null) decide(permit);
            }
            if (what === "outcome" && unsettled.length > 0) {
              const [chosen] = unsettled.splice(pick % unsettled.length, 1);
              if (chosen !== undefined) {
                const { permit, index } = chosen;
                const begun = { startedMs: permit.startedMs, wasProbe: permit.wasProbe(index) };
                permit.lines[index]?.health.settled(outcome, begun, nowMs);
                runningOn.push({ ...chosen, outcome });
              }
            }
            if (what === "end") {
              const ended = runningOn.shift();
              if (ended !== undefined) {
                const { permit, index } = ended;
                permit.lines[index]?.health.ended(endOf(ended.outcome), permit.wasProbe(index), nowMs);
              }
            }
            if (what === "wait") {
              nowMs += passedMs;
              admission.passed(passedMs);
            }
            if (what === "shut") admission.urls[pick % 2]?.shutUntil(nowMs + passedMs * 2);
            if (what === "serve") {
              for (let next = admission.next(nowMs); next !== null; next = admission.next(nowMs)) decide(next);
              const late = () => admission.overdue(nowMs, () => context);
              for (let permit = late(); permit !== null; permit = late()) decide(permit);
            }
            expect(counts.decided + admission.waiting).toBe(counts.arrived);
            const out = admission.urls.reduce((sum, health) => sum + health.out, 0);
            expect([out, shared.out]).toEqual([unsettled.length + runningOn.length, out]);
          }
        }),
        { numRuns: 500 },
      );
    },
  );

  it.each(["any", "each"] as const)(
    "settle %s: what waits is served or deferred in the end, when every request ends",
    (settle) => {
      const arrival = fc.record({ owed: fc.constantFrom(null, [A], [B]), isRetry: fc.boolean() });
      const outcomes = fc.record({
        [A]: fc.constantFrom<RequestOutcome>("failed", "delivered", "timed_out"),
        [B]: fc.constantFrom<RequestOutcome>("failed", "delivered", "timed_out"),
      });
      fc.assert(
        fc.property(fc.array(arrival, { minLength: 1, maxLength: 100 }), outcomes, (arrivals, outcomeOf) => {
          const admission = admissionOf([A, B], settle);
          const out: { permit: Given; index: number }[] = [];
          const take = (permit: Given) => {
            if (permit.isGiven) out.push(...permit.lines.map((_, index) => ({ permit, index })));
          };
          let nowMs = 0;
          for (const request of arrivals) {
            const permit = admission.admit(request, nowMs, () => ALONE);
            if (permit !== null) take(permit);
          }
          for (let round = 0; round < 2000 && (admission.waiting > 0 || out.length > 0); round++) {
            nowMs += 50;
            const ended = out.shift();
            const health = ended?.permit.lines[ended.index]?.health;
            if (ended !== undefined && health !== undefined) {
              const begun = { startedMs: ended.permit.startedMs, wasProbe: ended.permit.wasProbe(ended.index) };
              const outcome = health.url === A ? outcomeOf[A] : outcomeOf[B];
              health.settled(outcome, begun, nowMs);
              health.ended(endOf(outcome), begun.wasProbe, nowMs);
            }
            for (let next = admission.next(nowMs); next !== null; next = admission.next(nowMs)) take(next);
            const late = () => admission.overdue(nowMs, () => ALONE);
            for (let permit = late(); permit !== null; permit = late()) take(permit);
          }
          expect([admission.waiting, out.length, admission.isEmpty]).toEqual([0, 0, true]);
        }),
      );
    },
  );

  it.each(["any", "each"] as const)(
    "settle %s: a change of the URLs and a permit that is given back lose no delivery and leave no request counted",
    (settle) => {
      const anyStep = fc.record({
        what: fc.constantFrom("arrive", "arrive", "last", "outcome", "cancel", "change", "serve", "shut", "break"),
        owed: fc.constantFrom(null, null, [A], [B]),
        isRetry: fc.boolean(),
        pick: fc.nat(1000),
        outcome: fc.constantFrom<RequestOutcome>("delivered", "refused", "failed", "timed_out", "throttled"),
        urls: fc.constantFrom([A, B], [B, A], [A, B, "https://c.example/"]),
        passedMs: fc.nat(900),
      });
      fc.assert(
        fc.property(fc.array(anyStep, { maxLength: 200 }), fc.boolean(), (steps, hasRate) => {
          const shared = new ConnectionBudget(64);
          const admission = admissionOf([A, B], settle, shared);
          if (hasRate) admission.setRate(50, 0);
          const given: Given[] = [];
          const out: { permit: Given; index: number }[] = [];
          let [nowMs, arrived, decided] = [0, 0, 0];
          const decide = (permit: Given) => {
            decided += 1;
            if (permit.isGiven) given.push(permit);
          };
          const send = () => {
            for (const permit of given.splice(0)) out.push(...permit.lines.map((_, index) => ({ permit, index })));
          };
          const end = (outcome: RequestOutcome, at: number) => {
            const [chosen] = out.splice(at, 1);
            const health = chosen?.permit.lines[chosen.index]?.health;
            if (chosen === undefined || health === undefined) return;
            const { permit, index } = chosen;
            health.settled(outcome, { startedMs: permit.startedMs, wasProbe: permit.wasProbe(index) }, nowMs);
            health.ended(endOf(outcome), permit.wasProbe(index), nowMs);
          };
          const serve = () => {
            for (let next = admission.next(nowMs); next !== null; next = admission.next(nowMs)) decide(next);
            const late = () => admission.overdue(nowMs, () => AMONG_OTHERS);
            for (let permit = late(); permit !== null; permit = late()) decide(permit);
          };
          for (const { what, owed, isRetry, pick, outcome, urls, passedMs } of steps) {
            nowMs += passedMs / 10;
            if (what === "arrive") {
              arrived += 1;
              const permit = admission.admit({ owed, isRetry }, nowMs, () => AMONG_OTHERS);
              if (permit !== null) decide(permit);
            }
            if (what === "last") {
              const permit = admission.admitLast({ owed, isRetry }, nowMs);
              if (permit !== "full") arrived += 1;
              if (permit !== "full" && permit !== null) decide(permit);
            }
            if (what === "cancel") for (const permit of given.splice(0)) admission.cancelled(permit);
            if (what === "outcome") send();
            if (what === "outcome" && out.length > 0) end(outcome, pick % out.length);
            if (what === "shut") admission.urls[pick % 2]?.shutUntil(nowMs + passedMs * 2);
            const broken = what === "break" ? admission.urls[pick % 2] : undefined;
            for (let failures = 0; broken?.breaker.state === "closed" && failures < 5; failures++) {
              const begun = { startedMs: nowMs, wasProbe: broken.take(nowMs) };
              broken.settled("failed", begun, nowMs);
              broken.ended("failed", begun.wasProbe, nowMs);
            }
            if (broken !== undefined) nowMs += 1000;
            if (what === "change") arrived -= admission.configure(urls, settle).length;
            if (what === "serve") serve();
            expect(decided + admission.waiting).toBe(arrived);
            const unsent = given.reduce((sum, { lines }) => sum + lines.length, 0);
            expect(shared.out).toBe(out.length + unsent);
            expect(shared.unconfirmed).toBeGreaterThanOrEqual(0);
            expect(shared.unconfirmed).toBeLessThanOrEqual(shared.out);
          }
          send();
          for (let round = 0; round < 5000 && (out.length > 0 || admission.waiting > 0); round += 1) {
            nowMs += 20;
            end(steps.length % 2 === 0 ? "delivered" : "failed", 0);
            serve();
            send();
          }
          expect([admission.waiting, out.length, shared.out, shared.unconfirmed]).toEqual([0, 0, 0, 0]);
          // Every breaker that was open can be probed again.
          nowMs += 10_000;
          for (const { url } of admission.urls) {
            const permit = admission.admit({ owed: [url], isRetry: true }, nowMs, () => AMONG_OTHERS);
            expect(permit?.isGiven).toBe(true);
          }
        }),
        { numRuns: 500 },
      );
    },
  );
});
