/**
 * Makes a process's prom-client Registry. The process hands it to each creator of metrics, so no module keeps state.
 */
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** Default gauges that have a counter's name: `promtool check metrics` refuses a page with them. */
const REFUSED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/**
 * How often Node wakes the process to measure its event loop, in ms. At the default of 10 ms that alone takes 0.005 of
 * a core.
 */
const EVENT_LOOP_PRECISION_MS = 50;

/** Makes a registry with the process's default metrics and `posthaste_build_info`. */
export function createMetricsRegistry({
  service,
  version,
}: {
  readonly service: string;
  readonly version: string;
}): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
  for (const name of REFUSED) registry.removeSingleMetric(name);
  new Gauge({
    name: "posthaste_build_info",
    help: "Always 1; the labels say what runs.",
    labelNames: ["service", "version", "node"],
    registers: [registry],
  }).set({ service, version, node: process.versions.node }, 1);
  return registry;
}
