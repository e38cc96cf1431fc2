import { Gauge, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { MetricsPage } from "./metrics-page.ts";

/** A page of three metrics, each of which takes `costMs` of the test's clock. */
function pageOf({ costMs = 1, fails = () => false }: { costMs?: number; fails?: () => boolean } = {}) {
  const seen = { nowMs: 100, reads: 0, turns: 0, renderedMs: 0 };
  const registry = new Registry();
  for (const name of ["first", "second", "third"]) {
    new Gauge({
      ...{ name, help: "For this test.", registers: [registry] },
      collect() {
        if (fails()) throw new Error("the gauge broke");
        seen.nowMs += costMs;
        seen.reads += 1;
        this.set(seen.reads);
      },
    });
  }
  const loopTurned = async () => {
    seen.turns += 1;
  };
  const onRendered = (ms: number) => {
    seen.renderedMs = ms;
  };
  return { seen, registry, page: new MetricsPage({ registry, onRendered, now: () => seen.nowMs, loopTurned }) };
}

describe("the page of metrics", () => {
  it("is the registry's own text", async () => {
    const { page, registry } = pageOf();
    const text = (await page.read()).toString();
    expect(text.replaceAll(/\d$/gm, "N")).toBe((await registry.metrics()).replaceAll(/\d$/gm, "N"));
  });

  it("OM1: is rendered once for all requests that come while it is made", async () => {
    const { page, seen } = pageOf();
    const pages = await Promise.all([page.read(), page.read(), page.read()]);
    expect([new Set(pages).size, seen.reads, seen.renderedMs]).toEqual([1, 3, 3]);
  });

  it("OM2: serves for twenty times as long as its render took, and a second at most", async () => {
    const { page, seen } = pageOf();
    const first = await page.read();
    seen.nowMs += 3 * 20 - 1;
    expect(await page.read()).toBe(first);
    seen.nowMs += 1;
    expect(await page.read()).not.toBe(first);
    const { page: slow, seen: seenSlow } = pageOf({ costMs: 500 });
    const old = await slow.read();
    seenSlow.nowMs += 1_000;
    expect(await slow.read()).not.toBe(old);
  });

  it("OM3: lets the event loop turn where it has run for two milliseconds", async () => {
    const { page, seen } = pageOf({ costMs: 2 });
    await page.read();
    const { page: quick, seen: seenQuick } = pageOf({ costMs: 0.5 });
    await quick.read();
    expect([seen.turns, seenQuick.turns]).toEqual([3, 0]);
  });

  it("is rendered anew after a metric could not be read", async () => {
    let isBroken = true;
    const { page } = pageOf({ fails: () => isBroken });
    await expect(page.read()).rejects.toThrow("the gauge broke");
    isBroken = false;
    expect((await page.read()).toString()).toContain("third 3");
  });
});
