import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { METRICS_PAGE } from "../metrics-page.ts";
import { DASHBOARDS, dashboardJson, dashboardPath } from "./dashboards.ts";

/** Metrics of others, by their exporters. */
const OF_OTHERS = /^(kafka|process|nodejs|node|kubelet)_/;
const RULES = new URL("../../../deploy/prometheus/", import.meta.url);

/** The names of metrics and recorded ratios in a text of expressions. */
function namesIn(text: string): readonly string[] {
  return text.match(/\b(?:posthaste|kafka|process|nodejs|node|kubelet)_\w+|\bposthaste:\w+:\w+/g) ?? [];
}

describe("the dashboards", () => {
  it.each(DASHBOARDS)("$title is what its panels make", async (plan) => {
    expect(await readFile(dashboardPath(plan), "utf8")).toBe(dashboardJson(plan));
  });

  it("and the alerts name only metrics of docs/metrics.md, recorded ratios, and metrics of others", async () => {
    const [page, rules, alerts] = await Promise.all(
      [METRICS_PAGE, new URL("rules.yml", RULES), new URL("alerts.yml", RULES)].map((file) => readFile(file, "utf8")),
    );
    const ours = new Set(page?.match(/posthaste_\w+/g));
    const recorded = new Set(rules?.match(/(?<=record: )\S+/g));
    const queries = DASHBOARDS.flatMap(({ rows }) => rows).flatMap(({ panels }) => panels);
    const asked = queries.flatMap((panel) => Object.values(panel.queries)).join("\n");
    const expressions = [rules, alerts, asked]
      .join("\n")
      .replaceAll(/^.*(summary|description|runbook|alert|record|#).*$/gm, "");
    const names = [...new Set(namesIn(expressions))];
    expect(names.length).toBeGreaterThan(60);
    const known = (name: string) =>
      OF_OTHERS.test(name) ||
      recorded.has(name) ||
      ours.has(name) ||
      ours.has(name.replace(/_(bucket|sum|count)$/, ""));
    expect(names.filter((name) => !known(name))).toEqual([]);
  });
});
