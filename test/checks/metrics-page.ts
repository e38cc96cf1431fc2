/**
 * docs/metrics.md, made from the metrics that each service registers: `node scripts/run.mjs
 * test/checks/metrics-page.ts` writes it. That a running service registers just this, `test/e2e/local-command.test.ts`
 * asks of all four.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createControlMetrics } from "@posthaste/control/metrics";
import { BREAKER_STATES, type BreakerState } from "@posthaste/core/isolation/circuit-breaker";
import { createDeliveryGauges, createDeliveryMetrics } from "@posthaste/delivery/metrics";
import { createIngestMetrics, gaugeBodyBytes } from "@posthaste/ingest/metrics";
import { createKafkaMetrics } from "@posthaste/kafka/connection/metrics";
import { createRouterMetrics } from "@posthaste/router/metrics";
import { gaugeRender } from "@posthaste/runtime/metrics-page";
import { createMetricsRegistry, gaugeReadiness } from "@posthaste/runtime/metrics-registry";
import { createSenderMetrics, createTestSenderMetrics } from "@posthaste/webhook/metrics";
import type { Registry } from "prom-client";

export const METRICS_PAGE = fileURLToPath(new URL("../../docs/metrics.md", import.meta.url));

/** The functions by which each service makes its metrics, beside the metrics of every process. */
const SERVICES: Readonly<Record<string, (registry: Registry) => void>> = {
  ingest(registry) {
    createKafkaMetrics(registry);
    createIngestMetrics(registry);
    gaugeBodyBytes(registry, { heldBytes: 0 });
  },
  router(registry) {
    createKafkaMetrics(registry);
    createRouterMetrics(registry);
  },
  delivery(registry) {
    createKafkaMetrics(registry);
    createSenderMetrics(registry, { requestsInFlight: 0, maxConnections: 0, connectionsOpened: 0 });
    createDeliveryMetrics(registry, []);
    createDeliveryGauges(registry, {
      breakers: noBreakers,
      waitingForAdmission: () => 0,
      unknownKeys: () => 0,
      heldPartitions: () => [],
    });
  },
  control(registry) {
    createKafkaMetrics(registry);
    createTestSenderMetrics(registry);
    createControlMetrics(registry);
  },
};

/** By the end of a name, as Prometheus asks for base units; a counter's `_total` stands after it. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/_timestamp_seconds$/, "seconds since the epoch"],
  [/_seconds(_total)?$/, "seconds"],
  [/_bytes(_total)?$/, "bytes"],
];

const HEAD = `# Metrics

Made from the registries of the services by \`test/checks/metrics-page.ts\`, and held against them by a test: change a metric's help text,
then run \`node scripts/run.mjs test/checks/metrics-page.ts\`. Every service has these on the \`/metrics\` of its metrics port; beside them stand
prom-client's own of the process (\`process_*\`, \`nodejs_*\`). A label's values are named where they are a closed list; all of them stand at 0 from the start.
Requests that come at a time share a page, and making pages takes a tenth of the time at most. The port takes 200 connections, and two requests at once on each.
What to be woken for is in \`deploy/prometheus/alerts.yml\`.
`;

interface Described {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** Label names, each with the values that are there before anything happened. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The names of our own metrics by service, as the page has them. */
export async function metricNames(): Promise<Readonly<Record<string, readonly string[]>>> {
  const entries = await Promise.all(
    Object.keys(SERVICES).map(async (service) => [service, (await describe(service)).map(({ name }) => name)] as const),
  );
  return Object.fromEntries(entries);
}

/** The whole page. */
export async function metricsPage(): Promise<string> {
  const services = Object.keys(SERVICES);
  const rows = new Map<string, { metric: Described; services: string[] }>();
  for (const service of services) {
    for (const metric of await describe(service)) {
      const row = rows.get(metric.name) ?? { metric, services: [] };
      row.services.push(service);
      rows.set(metric.name, row);
    }
  }
  const sections = new Map<string, Described[]>();
  for (const { metric, services: having } of rows.values()) {
    const title = having.length === services.length ? "every service" : having.join(" and ");
    sections.set(title, [...(sections.get(title) ?? []), metric]);
  }
  return [HEAD, ...[...sections].map(([title, metrics]) => section(title, metrics))].join("\n");
}

async function describe(service: string): Promise<readonly Described[]> {
  const registry = createMetricsRegistry({ service, version: "0" });
  gaugeReadiness(registry, () => ({}));
  gaugeRender(registry);
  SERVICES[service]?.(registry);
  const described = await Promise.all(registry.getMetricsAsArray().map(describeMetric));
  return described.filter(({ name }) => name.startsWith("posthaste_"));
}

async function describeMetric(metric: ReturnType<Registry["getMetricsAsArray"]>[number]): Promise<Described> {
  // A metric of our own class has no labels and says the rest when it is asked.
  const { name, type, help, values } = await (metric as unknown as { get(): Promise<MetricNow> }).get();
  const labels = new Map(labelNames(metric).map((label) => [label, new Set<string>()]));
  for (const value of values) {
    for (const [label, seen] of labels) if (value.labels[label] !== undefined) seen.add(String(value.labels[label]));
  }
  return { name, type, help, labels };
}

interface MetricNow {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly values: readonly { readonly labels: Readonly<Record<string, string | number>> }[];
}

/** prom-client keeps them where its types have no word of them. */
function labelNames(metric: object): readonly string[] {
  return "labelNames" in metric && Array.isArray(metric.labelNames) ? metric.labelNames.map(String) : [];
}

function section(title: string, metrics: readonly Described[]): string {
  const rows = metrics
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((metric) => {
      const unit = UNITS.find(([end]) => end.test(metric.name))?.[1] ?? "count";
      return `| \`${metric.name}\` | ${metric.type} | ${unit} | ${labelsCell(metric)} | ${metric.help.replaceAll("|", "\\|")} |`;
    });
  return [
    `## ${title[0]?.toUpperCase()}${title.slice(1)}`,
    "",
    "| Metric | Type | Unit | Labels | What it is |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function labelsCell({ name, labels }: Described): string {
  // Its values are the values of the process that is asked.
  const isOpen = name === "posthaste_build_info";
  const cells = [...labels].map(([label, values]) =>
    values.size === 0 || isOpen ? `\`${label}\`` : `\`${label}\`: ${[...values].join(", ")}`,
  );
  return cells.length === 0 ? "–" : cells.join("; ");
}

function noBreakers(): Record<BreakerState, number> {
  return Object.fromEntries(BREAKER_STATES.map((state) => [state, 0])) as Record<BreakerState, number>;
}

if (import.meta.main) await writeFile(METRICS_PAGE, await metricsPage());
