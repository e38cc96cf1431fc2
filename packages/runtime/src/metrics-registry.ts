/**
 * Makes a process's prom-client Registry. The process hands it to each creator of metrics, so no module keeps state.
 */
import { totalmem } from "node:os";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Readiness } from "./admin-server.ts";

/** Default gauges that have a counter's name: `promtool check metrics` refuses a page with them. */
const REFUSED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/**
 * How often Node wakes the process to measure its event loop, in ms. At the default of 10 ms that alone takes 0.005 of
 * a core.
 */
const EVENT_LOOP_PRECISION_MS = 50;

/**
 * Makes a registry with the process's default metrics, `posthaste_build_info`, and the metrics of its clock and memory.
 */
export function createMetricsRegistry({
  service,
  version,
  commit = process.env["POSTHASTE_COMMIT"] || "unknown",
}: {
  readonly service: string;
  readonly version: string;
  /** The commit of the build; that of `POSTHASTE_COMMIT`, which the image sets, when it is absent. */
  readonly commit?: string;
}): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
  for (const name of REFUSED) registry.removeSingleMetric(name);
  new Gauge({
    name: "posthaste_build_info",
    help: "Always 1; the labels say what runs.",
    labelNames: ["service", "version", "node", "commit"],
    registers: [registry],
  }).set({ service, version, node: process.versions.node, commit }, 1);
  addProcessGauges(registry);
  return registry;
}

function addProcessGauges(registry: Registry): void {
  new Gauge({
    name: "posthaste_wall_clock_seconds",
    help: "The process's wall clock, in seconds since the epoch; Prometheus compares it with its own.",
    registers: [registry],
    collect() {
      this.set(Date.now() / 1000);
    },
  });
  new Gauge({
    name: "posthaste_memory_limit_bytes",
    help: "The most memory that the process may take: its control group's limit, else the machine's memory.",
    registers: [registry],
  }).set(Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()));
}

/** Adds `posthaste_ready`: the checks of `/readyz`, asked when the metrics are read. */
export function gaugeReadiness(registry: Registry, readiness: () => Readiness | Promise<Readiness>): void {
  new Gauge({
    name: "posthaste_ready",
    help: "1 while a check of the service's own readiness passes, else 0; running alone before its start ends.",
    labelNames: ["check"],
    registers: [registry],
    async collect() {
      const checks = await readiness();
      this.reset();
      this.set({ check: "running" }, checks["running"] === undefined ? 1 : 0);
      for (const [check, state] of Object.entries(checks)) this.set({ check }, state === true ? 1 : 0);
    },
  });
}
