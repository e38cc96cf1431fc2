/** The chart's schema of values, held to the services' settings. Helm's own checks are in chart.long.test.ts. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { CHART_SCHEMA, chartSchema } from "./chart-settings.ts";

const DOCS = fileURLToPath(new URL("../../docs", import.meta.url));

it("the chart's values take the settings that the services read", async () => {
  const schema = chartSchema();
  expect(schema).toContain("POSTHASTE_DELIVERY_WINDOW");
  expect(schema).toContain("POSTHASTE_LOG_LEVEL");
  expect(await readFile(CHART_SCHEMA, "utf8")).toBe(schema);
});

it("every setting of a service stands in the documents", async () => {
  const { properties } = JSON.parse(chartSchema()) as { properties: { settings: { properties: object } } };
  const files = (await readdir(DOCS)).filter((file) => file.endsWith(".md"));
  const docs = (await Promise.all(files.map((file) => readFile(join(DOCS, file), "utf8")))).join("\n");
  const settings = Object.keys(properties.settings.properties);
  expect(settings.length).toBeGreaterThan(25);
  expect(settings.filter((name) => !docs.includes(name))).toEqual([]);
});
