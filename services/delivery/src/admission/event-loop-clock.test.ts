import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CONNECTIONS, checked, fillingWindow, ObservedAdmission, SETTINGS } from "../../test/observed-admission.ts";

let observed: ObservedAdmission;

beforeEach(() => {
  observed = new ObservedAdmission(SETTINGS, CONNECTIONS);
});

afterEach(() => observed.end());

describe("a process that was blocked", () => {
  it("J6: does not blame a destination for the time that this process was blocked", () => {
    observed.admit(checked("b"));
    const window = fillingWindow();
    for (let index = 0; index < 10; index++) observed.admit(checked("a", { window }));
    observed.nowMs += 900;
    observed.finish(observed.sent[1], "delivered");
    observed.pass(100);
    expect([observed.deferred.length, observed.admission.waiting]).toEqual([0, 6]);
  });

  it("J6: does not take a receiver for a quick one because its answer came while this process was blocked", () => {
    observed.end();
    observed = new ObservedAdmission({ ...SETTINGS, limit: { first: 4, least: 1, enough: 2, most: 64 } }, CONNECTIONS);
    for (let index = 0; index < 5; index++) observed.admit(checked("watched"));
    observed.nowMs += 200;
    observed.admit(checked("slow"));
    observed.nowMs += 900;
    observed.finish(observed.sent.at(-1), "delivered");
    observed.sent = [];
    for (let index = 0; index < 4; index++) observed.admit(checked("slow"));
    observed.pass(400);
    for (const permit of observed.sent.splice(0)) observed.finish(permit, "delivered");
    for (let index = 0; index < 6; index++) observed.admit(checked("slow"));
    expect(observed.sent).toHaveLength(6);
  });
});
