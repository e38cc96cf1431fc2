import type { PartitionWindow } from "@posthaste/kafka/consumer/windowed-consumer";
import { describe, expect, it } from "vitest";
import {
  checked,
  type FakeWindow,
  fillingWindow,
  observeAdmission,
  observed,
  openWindow,
} from "../../test/observed-admission.ts";

observeAdmission();

describe("a window that fills", () => {
  it("I1, AD3: defers what hangs in a full window of which its destination holds more than half, and no less", () => {
    const window = { ...openWindow(), isFull: true, records: 500, ownedBy: () => 250 };
    observed.admit(checked("b"));
    for (let index = 0; index < 10; index++) observed.admit(checked("a", { window }));
    observed.pass(400);
    expect([observed.deferred.length, observed.admission.waiting]).toEqual([0, 8]);
    window.ownedBy = () => 251;
    observed.pass(20);
    expect(observed.causes()).toEqual(Array(8).fill("window_full"));
  });

  it("AD3: leaves what waits behind a quiet URL in a window that does not fill, though others get through", () => {
    const window = openWindow();
    observed.admit(checked("b"));
    for (let index = 0; index < 10; index++) observed.admit(checked("a", { window }));
    observed.pass(240);
    observed.finish(observed.sent[0], "delivered");
    observed.pass(20);
    expect([observed.deferred.length, observed.admission.waiting]).toEqual([0, 8]);
    window.records = fillingWindow().records;
    observed.pass(20);
    expect(observed.causes()).toEqual(Array(8).fill("window_full"));
  });

  it("AD3: a window fills from three quarters on", () => {
    const deferralOnArrival = (records: number) =>
      observed.admission.deferralOnArrival("a", { ...openWindow(), records } as unknown as PartitionWindow);
    observed.admit(checked("b"));
    observed.admit(checked("a"));
    expect(deferralOnArrival(376)).toBeNull();
    observed.pass(1600);
    expect([deferralOnArrival(375), deferralOnArrival(376)]).toEqual([null, "concurrency_limit"]);
  });

  it("J4, AD3: turns away what would stand behind requests that hang, when the window fills and others go", () => {
    const deferralOnArrival = (window: FakeWindow) =>
      observed.admission.deferralOnArrival("a", window as unknown as PartitionWindow);
    observed.admit(checked("a"));
    observed.admit(checked("b"));
    expect(deferralOnArrival(fillingWindow())).toBeNull();
    observed.pass(240);
    expect(deferralOnArrival(fillingWindow())).toBeNull();
    observed.finish(observed.sent[1], "delivered");
    expect([deferralOnArrival(openWindow()), deferralOnArrival(fillingWindow())]).toEqual([null, "window_full"]);
    observed.pass(240);
    expect(deferralOnArrival(fillingWindow())).toBeNull();
    observed.pass(1500);
    expect(deferralOnArrival(fillingWindow())).toBe("concurrency_limit");
    observed.finish(observed.sent[0], "timed_out");
    expect(deferralOnArrival(fillingWindow())).toBeNull();
    expect(observed.deferred).toEqual([]);
  });
});
