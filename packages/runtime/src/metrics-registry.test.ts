import { expect, it } from "vitest";
import { createMetricsRegistry, gaugeReadiness } from "./metrics-registry.ts";

it("serves the process's metrics and what runs, without the gauges that promtool refuses", async () => {
  const page = await createMetricsRegistry({ service: "router", version: "1.2.3", commit: "abc" }).metrics();
  const labels = `service="router",version="1.2.3",node="${process.versions.node}",commit="abc"`;
  expect(page).toContain(`posthaste_build_info{${labels}} 1`);
  expect(page).toContain("process_cpu_seconds_total");
  expect(page).not.toMatch(/nodejs_active_(handles|requests|resources)_total/);
});

it("keeps two registries of one process apart", () => {
  createMetricsRegistry({ service: "a", version: "1" });
  expect(() => createMetricsRegistry({ service: "b", version: "1" })).not.toThrow();
});

it("tells each check of the readiness, and running until the service has started", async () => {
  const registry = createMetricsRegistry({ service: "a", version: "1" });
  let checks: Record<string, true | string> = { running: "starting" };
  gaugeReadiness(registry, () => checks);
  const ready = async () => (await registry.metrics()).match(/^posthaste_ready.*$/gm);
  expect(await ready()).toEqual(['posthaste_ready{check="running"} 0']);
  checks = { brokers: true, tables: "behind" };
  expect(await ready()).toEqual([
    'posthaste_ready{check="running"} 1',
    'posthaste_ready{check="brokers"} 1',
    'posthaste_ready{check="tables"} 0',
  ]);
});
