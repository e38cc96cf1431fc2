/**
 * A histogram without labels for a path that runs tens of thousands of times a second.
 *
 * prom-client looks a histogram's counts up by its labels, and each bucket by its bound as text: 1 µs an observation,
 * where a delivery is 30. Here an observation is a search among the bounds and three additions; the page is
 * prom-client's.
 */
import { Histogram, type MetricObjectWithValues, type MetricValueWithName, type Registry } from "prom-client";

export interface LatencyHistogramOptions {
  readonly name: string;
  readonly help: string;
  /** Upper bounds in seconds, rising; one for all that is above them is added. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

type Values = MetricObjectWithValues<MetricValueWithName<string>>;

export class LatencyHistogram implements Pick<Histogram, "get" | "reset"> {
  /** The registry's key. */
  readonly name: string;
  /** Nobody counts in it: it says what a page says of a histogram beside the counts. */
  readonly #described: Histogram;
  readonly #bounds: readonly number[];
  /** Observations of each bucket alone; the last is for what is above every bound. */
  readonly #counts: number[];
  #sum = 0;

  constructor({ name, help, buckets, registry }: LatencyHistogramOptions) {
    this.name = name;
    this.#described = new Histogram({ name, help, buckets: [...buckets], registers: [] });
    this.#bounds = buckets;
    this.#counts = new Array<number>(buckets.length + 1).fill(0);
    // The registry's types name prom-client's four classes; of a metric it uses what is here.
    registry.registerMetric(this as unknown as Histogram);
  }

  /** Counts one duration; a finite number, which is not checked here. */
  record(seconds: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && seconds > (bounds[bucket] ?? seconds)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
  }

  async get(): Promise<Values> {
    const metric = await this.#described.get();
    const values: MetricValueWithName<string>[] = [];
    let count = 0;
    for (const [bucket, own] of this.#counts.entries()) {
      count += own;
      values.push({
        labels: { le: this.#bounds[bucket] ?? "+Inf" },
        value: count,
        metricName: `${this.name}_bucket`,
      });
    }
    values.push({ labels: {}, value: this.#sum, metricName: `${this.name}_sum` });
    values.push({ labels: {}, value: count, metricName: `${this.name}_count` });
    return { ...metric, values };
  }

  reset(): void {
    this.#counts.fill(0);
    this.#sum = 0;
  }
}
