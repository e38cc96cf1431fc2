/** The page of a registry's metrics, rendered in slices. */
import { setImmediate as turn } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";

/** A render that has run for so many ms lets the event loop turn before the next metric. */
const SLICE_MS = 2;

export interface MetricsPageOptions {
  readonly registry: Pick<Registry, "getMetricsAsArray" | "getSingleMetricAsString">;
  /** Called after the render, with the time that it took. */
  readonly onRendered?: (ms: number) => void;
  /** A clock in ms. */
  readonly now?: () => number;
  /** Resolves when the event loop has turned. */
  readonly loopTurned?: () => Promise<unknown>;
}

/** Returns the page in the text format. */
export async function renderMetrics(options: MetricsPageOptions): Promise<Buffer> {
  const { registry, now = () => performance.now(), loopTurned = () => turn() } = options;
  const parts: string[] = [];
  const beganMs = now();
  let sliceMs = beganMs;
  for (const { name } of registry.getMetricsAsArray()) {
    parts.push(await registry.getSingleMetricAsString(name));
    if (now() - sliceMs < SLICE_MS) continue;
    await loopTurned();
    sliceMs = now();
  }
  options.onRendered?.(now() - beganMs);
  return Buffer.from(`${parts.join("\n\n")}\n`);
}

/** Adds `posthaste_scrape_render_seconds`. Returns the function that sets it, in ms. */
export function gaugeRender(registry: Registry): (ms: number) => void {
  const gauge = new Gauge({
    name: "posthaste_scrape_render_seconds",
    help: "How long the last page of metrics took to render.",
    registers: [registry],
  });
  return (ms) => gauge.set(ms / 1000);
}
