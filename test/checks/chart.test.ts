/** The chart's schema of values, held to the services' settings. Helm's own checks are in chart.long.test.ts. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { CHART_SCHEMA, chartSchema } from "./chart-settings.ts";

it("the chart's values take the settings that the services read", async () => {
  const schema = chartSchema();
  expect(schema).toContain("POSTHASTE_DELIVERY_WINDOW");
  expect(schema).toContain("POSTHASTE_LOG_LEVEL");
  expect(await readFile(CHART_SCHEMA, "utf8")).toBe(schema);
});
