import type { EventLoopUtilization } from "node:perf_hooks";
import { expect, it } from "vitest";
import { createEventLoopLoad } from "./event-loop-load.ts";

it("is told for the time since it was asked last", () => {
  let at = { idle: 1000, active: 0 };
  const utilizationOf = (now?: EventLoopUtilization, last?: EventLoopUtilization): EventLoopUtilization => {
    const [idle, active] = now && last ? [now.idle - last.idle, now.active - last.active] : [at.idle, at.active];
    return { idle, active, utilization: active / (idle + active) };
  };
  const isBusy = createEventLoopLoad(utilizationOf);
  const asked = (idle: number, active: number) => {
    at = { idle: at.idle + idle, active: at.active + active };
    return isBusy();
  };
  expect([asked(30, 70), asked(50, 50), asked(10, 90)]).toEqual([true, false, true]);
});

it("is measured of this process", () => {
  const isBusy = createEventLoopLoad();
  const untilMs = performance.now() + 20;
  while (performance.now() < untilMs);
  expect(isBusy()).toBe(true);
});
