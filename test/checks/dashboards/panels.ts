/** The panels of a dashboard: their titles, units and expressions, and the short forms that the expressions share. */

export interface Panel {
  readonly title: string;
  readonly unit: "reqps" | "s" | "short" | "percentunit" | "bytes" | "cores" | "bool_yes_no";
  /** Default: a graph. */
  readonly kind?: "number";
  /** Expressions by their legends; `{{label}}` stands for a label's value. */
  readonly queries: Readonly<Record<string, string>>;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface DashboardPlan {
  readonly uid: string;
  readonly title: string;
  readonly about: string;
  /** Variables by their names, each with the query of its values. */
  readonly variables: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
}

/** The metric with our prefix, unless it is a metric of others. */
const whole = (metric: string) =>
  /^(kafka|process|nodejs|node)_|^posthaste/.test(metric) ? metric : `posthaste_${metric}`;
const by = (labels: readonly string[]) => (labels.length === 0 ? "" : ` by (${labels.join(", ")})`);
/** Adds to the name before a selector. */
const suffixed = (metric: string, suffix: string) => whole(metric).replace(/(?=\{|$)/, suffix);
export const sumRate = (metric: string, ...labels: readonly string[]) =>
  `sum${by(labels)} (rate(${whole(metric)}[$__rate_interval]))`;
export const sumIncrease = (metric: string, ...labels: readonly string[]) =>
  `sum${by(labels)} (increase(${whole(metric)}[5m]))`;
export const sum = (metric: string, ...labels: readonly string[]) => `sum${by(labels)} (${whole(metric)})`;
export const max = (metric: string, ...labels: readonly string[]) => `max${by(labels)} (${whole(metric)})`;
export const quantile = (part: number, metric: string, ...labels: readonly string[]) =>
  `histogram_quantile(${part}, sum by (${["le", ...labels].join(", ")}) (rate(${suffixed(metric, "_bucket")}[$__rate_interval])))`;
export const quantiles = (metric: string): Readonly<Record<string, string>> => ({
  p99: quantile(0.99, metric),
  p95: quantile(0.95, metric),
  p50: quantile(0.5, metric),
});
export const ours = (metric: string, selector = "") => `${metric}{job="posthaste"${selector}}`;
