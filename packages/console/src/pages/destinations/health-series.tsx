import { useQueries } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Operations, Series } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { TimeChart } from "../../chart/time-chart.tsx";
import type { TimeChartData, TimeSeries } from "../../chart/time-series.ts";
import { Choice } from "../../elements/choice.tsx";
import { Loaded } from "../../listing/loaded.tsx";
import { usePausable } from "../../live/live.ts";
import { everyStep } from "./every-step.ts";
import styles from "./health.module.css";

type Metric = NonNullable<Operations["GET /v1/destinations/{id}/series"]["query"]["metric"]>;
type Point = Series["data"][number];
type Span = keyof typeof SPANS;

const HOUR_MS = 3_600_000;
const AGAIN_MS = 30_000;
const SPANS = {
  hour: { words: "the last hour", ms: HOUR_MS, step: "1m" },
  day: { words: "the last day", ms: 24 * HOUR_MS, step: "15m" },
  week: { words: "the last week", ms: 7 * 24 * HOUR_MS, step: "1h" },
} as const;
const CHOICES = (Object.keys(SPANS) as Span[]).map((span) => [span, SPANS[span].words] as const);

interface Line extends Pick<TimeSeries, "name" | "colour"> {
  readonly of: (point: Point) => number | null | undefined;
}

const CHARTS: readonly {
  readonly metric: Metric;
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
}[] = [
  {
    ...{ metric: "outcomes", title: "Attempts", unit: "" },
    lines: [
      { name: "delivered", colour: "good", of: ({ delivered }) => delivered },
      { name: "retryable", colour: "warn", of: ({ retryable }) => retryable },
      { name: "permanent", colour: "bad", of: ({ permanent }) => permanent },
      { name: "deferred", colour: "off", of: ({ deferred }) => deferred },
    ],
  },
  {
    ...{ metric: "latency", title: "Latency", unit: " ms" },
    lines: [
      { name: "p50", colour: "accent", of: ({ p50Ms }) => p50Ms },
      { name: "p99", colour: "warn", of: ({ p99Ms }) => p99Ms },
    ],
  },
  {
    ...{ metric: "waiting", title: "Waiting", unit: "" },
    lines: [
      { name: "deliveries", colour: "accent", of: ({ waiting }) => waiting },
      { name: "requests in flight", colour: "off", of: ({ inFlight }) => inFlight },
    ],
  },
];

/** How a destination was over time: three charts of one axis. */
export function HealthSeries({ destinationId }: { readonly destinationId: string }) {
  const [span, setSpan] = useState<Span>("hour");
  const { ms, step } = SPANS[span];
  const refetchInterval = usePausable(AGAIN_MS);
  const queries = useQueries({
    queries: CHARTS.map(({ metric }) => ({
      queryKey: ["GET /v1/destinations/{id}/series", destinationId, metric, span],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const untilMs = Date.now();
        const since = new Date(untilMs - ms).toISOString();
        const params = { id: destinationId };
        const series = await call("GET /v1/destinations/{id}/series", {
          params,
          query: { metric, since, step },
          signal,
        });
        return { series, range: [untilMs - ms, untilMs] as const };
      },
      refetchInterval,
    })),
  });
  return (
    <section aria-label="Over time" className={styles["series"]}>
      <div className={styles["span"]}>
        <Choice label="Over" value={span} choices={CHOICES} onChange={setSpan} />
      </div>
      {CHARTS.map((chart, index) => {
        const query = queries[index];
        return (
          query !== undefined && (
            <Loaded key={chart.metric} query={query} what={chart.title.toLowerCase()} rows={3}>
              {({ series, range }) => <Chart chart={chart} series={series} range={range} />}
            </Loaded>
          )
        );
      })}
    </section>
  );
}

interface ChartProps {
  readonly chart: (typeof CHARTS)[number];
  readonly series: Series;
  readonly range: TimeChartData["range"];
}

function Chart({ chart: { title, unit, lines }, series, range }: ChartProps) {
  const drawn = useMemo(() => {
    const points = everyStep(series);
    return {
      ...{ title, unit, range },
      times: points.map(({ time }) => time),
      series: lines.map(({ name, colour, of }) => ({ name, colour, values: points.map((point) => of(point) ?? null) })),
    };
  }, [title, unit, lines, series, range]);
  return <TimeChart data={drawn} />;
}
