/**
 * Pictures of the dashboards for docs/images, as SVG: the panels and expressions of deploy/grafana, drawn from the data
 * of a Prometheus. Grafana draws them otherwise; no server of it is needed.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { DASHBOARDS } from "../checks/dashboards/dashboards.ts";
import type { DashboardPlan, Panel } from "../checks/dashboards/panels.ts";

export interface DrawnFrom {
  /** Prometheus. */
  readonly url: string;
  readonly destinationId: string;
}

interface Series {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
}

const [WIDTH, HEIGHT, GAP, HEAD] = [396, 150, 8, 34];
const PER_ROW = 3;
const COLOURS = ["#3274d9", "#e0752d", "#299c46", "#a352cc", "#d44a3a", "#0d869e", "#8f6c00", "#666666"];
const MOST_SERIES = 8;
const SHOWN_S = 120;
const STEP_S = 2;

export async function drawDashboards(from: DrawnFrom): Promise<void> {
  for (const plan of DASHBOARDS) {
    const file = fileURLToPath(
      new URL(`../../docs/images/dashboard-${plan.uid.replace("posthaste-", "")}.svg`, import.meta.url),
    );
    await writeFile(file, await drawDashboard(plan, from));
  }
}

async function drawDashboard(plan: DashboardPlan, from: DrawnFrom): Promise<string> {
  const parts: string[] = [];
  let top = 46;
  for (const { title, panels } of plan.rows) {
    parts.push(
      `<text x="${GAP}" y="${top + 14}" class="row">${escaped(title.replace("$d", from.destinationId))}</text>`,
    );
    top += 24;
    for (const [index, panel] of panels.entries()) {
      const left = GAP + (index % PER_ROW) * (WIDTH + GAP);
      const y = top + Math.floor(index / PER_ROW) * (HEIGHT + GAP);
      parts.push(`<g transform="translate(${left} ${y})">${drawPanel(panel, await dataOf(panel, from))}</g>`);
    }
    top += Math.ceil(panels.length / PER_ROW) * (HEIGHT + GAP);
  }
  const width = GAP + PER_ROW * (WIDTH + GAP);
  const style =
    "text{font:11px system-ui,sans-serif;fill:#333}.row{font-weight:600;font-size:13px}.t{font-weight:600}" +
    ".h{font-size:16px;font-weight:700}.n{font-size:30px;font-weight:600}rect{fill:#fff;stroke:#ddd}.g{stroke:#eee}";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top + GAP}" width="${width}">`,
    `<title>${escaped(plan.title)}</title>`,
    `<style>${style}</style><rect width="100%" height="100%" style="fill:#f7f7f8;stroke:none"/>`,
    `<text x="${GAP}" y="28" class="h">${escaped(plan.title)}</text>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

async function dataOf(panel: Panel, { url, destinationId }: DrawnFrom): Promise<readonly Series[]> {
  const end = Math.floor(Date.now() / 1000);
  const found: Series[] = [];
  for (const [legend, expr] of Object.entries(panel.queries)) {
    const query = expr
      .replaceAll("$__rate_interval", "15s")
      .replaceAll("$__range", `${SHOWN_S}s`)
      .replaceAll("$d", destinationId)
      .replaceAll(/\$(service|instance)/g, ".*");
    const asked = new URLSearchParams({ query, start: String(end - SHOWN_S), end: String(end), step: String(STEP_S) });
    const answer = await fetch(`${url}/api/v1/query_range?${asked}`);
    const { data } = (await answer.json()) as {
      data: { result: { metric: Record<string, string>; values: [number, string][] }[] };
    };
    for (const { metric, values } of data.result) {
      const name = legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => shortName(metric[label] ?? ""));
      const points = values.map(([at, value]) => [at - end + SHOWN_S, Number(value)] as const);
      found.push({ name, points: points.filter(([, value]) => Number.isFinite(value)) });
    }
  }
  const mostOf = ({ points }: Series) => Math.max(...points.map(([, value]) => value));
  return found
    .filter(({ points }) => points.length > 0)
    .toSorted((a, b) => mostOf(b) - mostOf(a))
    .slice(0, MOST_SERIES);
}

/** Topics of a test begin with its own prefix. */
function shortName(value: string): string {
  return value.replace(/^.*?-[0-9a-f]{12,}\./, "");
}

function drawPanel({ title, kind, unit }: Panel, series: readonly Series[]): string {
  const frame = `<rect width="${WIDTH}" height="${HEIGHT}" rx="3"/><text x="8" y="17" class="t">${escaped(title)}</text>`;
  if (series.length === 0) return `${frame}<text x="8" y="${HEIGHT / 2}">no data where this was drawn</text>`;
  const last = series[0]?.points.at(-1)?.[1] ?? 0;
  if (kind === "number") return `${frame}<text x="8" y="${HEIGHT / 2 + 12}" class="n">${shown(last, unit)}</text>`;
  const most = Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value)), 0) || 1;
  const [plotTop, plotHeight] = [26, HEIGHT - 26 - HEAD];
  const x = (at: number) => (52 + (at / SHOWN_S) * (WIDTH - 60)).toFixed(1);
  const y = (value: number) => (plotTop + plotHeight * (1 - Math.max(0, value) / most)).toFixed(1);
  const lines = series.map(
    ({ points }, index) =>
      `<polyline fill="none" stroke-width="1.5" stroke="${COLOURS[index]}" points="${points.map(([at, v]) => `${x(at)},${y(v)}`).join(" ")}"/>`,
  );
  const grid = [0, most / 2, most].map(
    (value) =>
      `<line class="g" x1="52" x2="${WIDTH - 8}" y1="${y(value)}" y2="${y(value)}"/><text x="48" y="${Number(y(value)) + 4}" text-anchor="end">${shown(value, unit)}</text>`,
  );
  const legend = series.map(
    ({ name }, index) => `<tspan fill="${COLOURS[index]}">● </tspan><tspan>${escaped(name.trim() || "all")}  </tspan>`,
  );
  return `${frame}${grid.join("")}${lines.join("")}<text x="8" y="${HEIGHT - 12}" xml:space="preserve">${fitted(legend, series)}</text>`;
}

/** The entries of a legend that have space in one line. */
function fitted(entries: readonly string[], series: readonly Series[]): string {
  const lengths = series.map(({ name }) => name.length + 4);
  return entries.filter((_, index) => lengths.slice(0, index + 1).reduce((sum, each) => sum + each) <= 62).join("");
}

function shown(value: number, unit: Panel["unit"]): string {
  if (unit === "percentunit") return `${Math.round(value * 1000) / 10} %`;
  if (unit === "bytes") return `${Math.round(value / 1e6)} MB`;
  const rounded = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(2));
  if (unit === "s")
    return value !== 0 && Math.abs(value) < 1 ? `${Number((value * 1000).toPrecision(2))} ms` : `${rounded} s`;
  return `${rounded}${unit === "reqps" ? "/s" : ""}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
