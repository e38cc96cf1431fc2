/**
 * The page of a registry's metrics, rendered once for all requests of a moment. A render takes milliseconds, so without
 * this bound some requests in one read would hold up all else that the process does.
 *
 * Owns: the last page, and the render that is under way.
 * OM1  At most one render is under way; requests that come meanwhile get its page.
 * OM2  A page serves for `SERVED_TIMES` times as long as its render took: renders take a twentieth of the time at most.
 * OM3  A render lets the event loop turn between two metrics once it has run for `SLICE_MS`.
 */
import { setImmediate as turn } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";

const SERVED_TIMES = 20;
/** No page is older than this, in ms, however long its render took. */
const MOST_SERVED_MS = 1_000;
const SLICE_MS = 2;

export interface MetricsPageOptions {
  readonly registry: Pick<Registry, "getMetricsAsArray" | "getSingleMetricAsString">;
  /** Called after each render, with the time that it took. */
  readonly onRendered?: (ms: number) => void;
  /** A clock in ms. */
  readonly now?: () => number;
  /** Resolves when the event loop has turned. */
  readonly loopTurned?: () => Promise<unknown>;
}

export class MetricsPage {
  readonly #options: Required<MetricsPageOptions>;
  #page: Promise<Buffer> | null = null;
  /** Infinite while its render is under way. */
  #servesUntilMs = 0;

  constructor({ registry, onRendered = () => undefined, ...options }: MetricsPageOptions) {
    const { now = () => performance.now(), loopTurned = () => turn() } = options;
    this.#options = { registry, onRendered, now, loopTurned };
  }

  /** Returns the page in the text format. Rejects where a metric cannot be read; the next call renders anew. */
  read(): Promise<Buffer> {
    if (this.#page !== null && this.#options.now() < this.#servesUntilMs) return this.#page;
    this.#servesUntilMs = Number.POSITIVE_INFINITY;
    this.#page = this.#render();
    return this.#page;
  }

  async #render(): Promise<Buffer> {
    const { registry, onRendered, now, loopTurned } = this.#options;
    const beganMs = now();
    try {
      const parts: string[] = [];
      let sliceMs = beganMs;
      for (const { name } of registry.getMetricsAsArray()) {
        parts.push(await registry.getSingleMetricAsString(name));
        if (now() - sliceMs < SLICE_MS) continue;
        await loopTurned();
        sliceMs = now();
      }
      const endedMs = now();
      onRendered(endedMs - beganMs);
      this.#servesUntilMs = endedMs + Math.min(MOST_SERVED_MS, SERVED_TIMES * (endedMs - beganMs));
      return Buffer.from(`${parts.join("\n\n")}\n`);
    } catch (error) {
      this.#servesUntilMs = 0;
      throw error;
    }
  }
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
