import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { METRICS_PAGE, metricsPage } from "./metrics-page.ts";

it("docs/metrics.md is what the services' registries hold", async () => {
  expect(await readFile(METRICS_PAGE, "utf8")).toBe(await metricsPage());
});
