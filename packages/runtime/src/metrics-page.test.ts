import { Gauge, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { renderMetrics } from "./metrics-page.ts";

/** A registry of three metrics, each of which takes `costMs` of the test's clock. */
function registryOf(costMs: number) {
  const seen = { nowMs: 100, turns: 0 };
  const registry = new Registry();
  for (const name of ["first", "second", "third"]) {
    new Gauge({
      ...{ name, help: "For this test.", registers: [registry] },
      collect() {
        seen.nowMs += costMs;
        this.set(7);
      },
    });
  }
  const loopTurned = async () => {
    seen.turns += 1;
  };
  return { seen, options: { registry, now: () => seen.nowMs, loopTurned }, registry };
}

describe("the page of metrics", () => {
  it("is the registry's own text", async () => {
    const { options, registry } = registryOf(1);
    expect((await renderMetrics(options)).toString()).toBe(await registry.metrics());
  });

  it("lets the event loop turn where it has run for two milliseconds", async () => {
    const [slow, quick] = [registryOf(2), registryOf(0.5)];
    let tookMs = 0;
    await renderMetrics({ ...slow.options, onRendered: (ms) => (tookMs = ms) });
    await renderMetrics(quick.options);
    expect([slow.seen.turns, quick.seen.turns, tookMs]).toEqual([3, 0, 6]);
  });
});
