import { expect, it } from "vitest";
import { createMetricsRegistry } from "./metrics-registry.ts";

it("serves the process's metrics and what runs, without the gauges that promtool refuses", async () => {
  const page = await createMetricsRegistry({ service: "router", version: "1.2.3" }).metrics();
  expect(page).toContain(`posthaste_build_info{service="router",version="1.2.3",node="${process.versions.node}"} 1`);
  expect(page).toContain("process_cpu_seconds_total");
  expect(page).not.toMatch(/nodejs_active_(handles|requests|resources)_total/);
});

it("keeps two registries of one process apart", () => {
  createMetricsRegistry({ service: "a", version: "1" });
  expect(() => createMetricsRegistry({ service: "b", version: "1" })).not.toThrow();
});
