/** Rule: CB3 of connection-budget.ts. */
import { describe, expect, it } from "vitest";
import {
  CONNECTIONS,
  checked,
  observeAdmission,
  observeAnother,
  observed,
  openWindow,
} from "../../test/observed-admission.ts";

observeAdmission();

describe("last attempts", () => {
  it("J5, CB3: leaves a connection to a newcomer beside last attempts of more that hang than it has", () => {
    for (let index = 0; index < 100; index++) {
      observed.admit(checked(`hang-${index}`));
      observed.finish(observed.sent.at(-1), "timed_out");
    }
    observed.sent = [];
    for (let index = 0; index < 100; index++) observed.admitLast(checked(`hang-${index}`));
    expect(observed.sent).toHaveLength(CONNECTIONS / 2);
    observed.admit(checked("new"));
    expect(observed.sent.at(-1)?.request.destination.id).toBe("new");
  });

  it("J5, I3: sends a last attempt whatever the breaker says, within the reserve", () => {
    for (let index = 0; index < 3; index++) {
      observed.admit(checked("bad"));
      observed.finish(observed.sent.at(-1), "failed");
    }
    observed.sent = [];
    for (let index = 0; index < 32; index++) expect(observed.admitLast(checked("bad"))).toBe(true);
    expect(observed.admitLast(checked("bad"))).toBe(false);
    expect(observed.sent.every(({ isLast }) => isLast)).toBe(true);
    observed.finish(observed.sent[0], "failed");
    expect(observed.admitLast(checked("bad"))).toBe(true);
  });

  it("J5: gives back the reserve of last attempts whose partition was given up before their turn", () => {
    const window = { ...openWindow(), isRevoked: true };
    for (let index = 0; index < 40; index++) observed.admitLast(checked("a", { window }));
    expect(observed.sent).toEqual([]);
    for (let index = 0; index < 32; index++) expect(observed.admitLast(checked("a"))).toBe(true);
    expect([observed.sent.length, observed.admitLast(checked("a"))]).toEqual([32, false]);
  });

  it("J5: has no more of the reserve for attempts that were taken back and no last ones", () => {
    observed.isCurrent = false;
    for (let index = 0; index < 10; index++) observed.admit(checked("a"));
    observed.isCurrent = true;
    for (let index = 0; index < 32; index++) expect(observed.admitLast(checked("a"))).toBe(true);
    expect([observed.sent.length, observed.admitLast(checked("a"))]).toEqual([32, false]);
  });

  it("J5: sends last attempts no faster than the destination's rate, and all of them", () => {
    let refused = 0;
    for (let index = 0; index < 30; index++) {
      if (!observed.admitLast(checked("a", { rateLimitPerSecond: 1 }))) refused += 1;
    }
    expect([observed.sent.length, refused, observed.admission.waiting]).toEqual([1, 19, 10]);
    observed.pass(1000);
    expect(observed.sent).toHaveLength(2);
    observed.pass(9100);
    expect([observed.sent.length, observed.admission.waiting, observed.sent.every(({ isLast }) => isLast)]).toEqual([
      11,
      0,
      true,
    ]);
    for (const permit of observed.sent.splice(0)) observed.finish(permit, "failed");
    expect(observed.admitLast(checked("a", { rateLimitPerSecond: 1 }))).toBe(true);
  });

  it("J5: keeps last attempts that waited for the rate to the reserve, and defers the others", () => {
    observeAnother({ connections: 4096 });
    for (let index = 0; index < 200; index++) {
      expect(observed.admitLast(checked("a", { rateLimitPerSecond: 100 }))).toBe(true);
    }
    observed.pass(3000);
    expect([observed.sent.length, observed.deferred.length, observed.admission.waiting]).toEqual([32, 168, 0]);
    expect(observed.causes()).toEqual(Array(168).fill("concurrency_limit"));
    for (const permit of observed.sent.splice(0)) observed.finish(permit, "failed");
    expect([observed.admitLast(checked("a", { rateLimitPerSecond: 100 })), observed.sent.length]).toEqual([true, 1]);
  });
});
