/**
 * The dashboards of deploy/grafana, made of their panels by Grafana's own library:
 * `node scripts/run.mjs test/checks/dashboards/dashboards.ts` writes them.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  QueryVariableBuilder,
  RowBuilder,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as GraphBuilder } from "@grafana/grafana-foundation-sdk/timeseries";
import { DESTINATION } from "./destination.ts";
import { KAFKA } from "./kafka.ts";
import { OVERVIEW } from "./overview.ts";
import type { DashboardPlan, Panel } from "./panels.ts";
import { PROCESS } from "./process.ts";

export const DASHBOARDS: readonly DashboardPlan[] = [OVERVIEW, DESTINATION, KAFKA, PROCESS];

/** Grafana's name of the data source, which compose and the chart provide. */
const SOURCE = { type: "prometheus", uid: "prometheus" };
/** Grafana's grid is 24 wide. */
const WIDTH = 24;
const RESTARTS = 'time() - process_start_time_seconds{job="posthaste"} < 60';
const VERSIONS =
  "count by (service, version) (posthaste_build_info) unless count by (service, version) (posthaste_build_info offset 5m)";

export const dashboardPath = (plan: DashboardPlan): string =>
  fileURLToPath(new URL(`../../../deploy/grafana/${plan.uid}.json`, import.meta.url));

/** The text of a dashboard's file. */
export function dashboardJson(plan: DashboardPlan): string {
  const dashboard = new DashboardBuilder(plan.title)
    .uid(plan.uid)
    .description(plan.about)
    .tags(["posthaste"])
    .refresh("30s")
    .time({ from: "now-3h", to: "now" })
    .timezone("browser");
  for (const [name, expr] of [
    ["Restarts", RESTARTS],
    ["Versions", VERSIONS],
  ] as const) {
    dashboard.annotation(
      new AnnotationQueryBuilder().name(name).datasource(SOURCE).enable(true).iconColor("blue").expr(expr),
    );
  }
  for (const [name, query] of Object.entries(plan.variables)) {
    const variable = new QueryVariableBuilder(name).datasource(SOURCE).query(query).refresh(2);
    dashboard.withVariable(variable.includeAll(name !== "d").multi(name !== "d"));
  }
  for (const { title, panels } of plan.rows) {
    dashboard.withRow(new RowBuilder(title));
    for (const panel of panels) dashboard.withPanel(panelOf(panel, panels.length));
  }
  return `${JSON.stringify(dashboard.build(), null, 2)}\n`;
}

function panelOf(panel: Panel, ofRow: number) {
  const builder = panel.kind === "number" ? new StatBuilder() : new GraphBuilder().min(0);
  const [span, height] = panel.kind === "number" ? [Math.floor(WIDTH / ofRow), 4] : [WIDTH / 3, 8];
  builder
    .title(panel.title)
    .unit(panel.unit === "cores" ? "suffix: cores" : panel.unit)
    .datasource(SOURCE)
    .span(span)
    .height(height);
  for (const [legend, expr] of Object.entries(panel.queries)) {
    builder.withTarget(new DataqueryBuilder().expr(expr).legendFormat(legend).datasource(SOURCE));
  }
  return builder;
}

if (import.meta.main) await Promise.all(DASHBOARDS.map((plan) => writeFile(dashboardPath(plan), dashboardJson(plan))));
