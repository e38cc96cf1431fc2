import type { Series } from "../../api/api-types.ts";

const STEPS_MS: Readonly<Record<Series["step"], number>> = {
  ...{ "1m": 60_000, "5m": 300_000, "15m": 900_000, "1h": 3_600_000 },
};
/** The most that control answers at once. */
const MOST_STEPS = 1500;

type Point = Series["data"][number];

/**
 * With the steps between the first and the last in which nothing was counted, which control leaves out: drawn without
 * them, a line would go on through a silence as high as before. Nothing was sent then; the duration of answers is
 * unknown; waiting deliveries go on waiting, so their line does go on.
 */
export function everyStep({ metric, step, data }: Pick<Series, "metric" | "step" | "data">): readonly Point[] {
  const [first, last] = [data[0], data.at(-1)];
  if (metric === "waiting" || first === undefined || last === undefined) return data;
  const none = metric === "outcomes" ? { delivered: 0, retryable: 0, permanent: 0, deferred: 0 } : {};
  const known = new Map(data.map((point) => [Date.parse(point.time), point]));
  const [fromMs, untilMs, stepMs] = [Date.parse(first.time), Date.parse(last.time), STEPS_MS[step]];
  if ((untilMs - fromMs) / stepMs > MOST_STEPS) return data;
  const points: Point[] = [];
  for (let atMs = fromMs; atMs <= untilMs; atMs += stepMs) {
    points.push(known.get(atMs) ?? { time: new Date(atMs).toISOString(), ...none });
  }
  return points;
}
