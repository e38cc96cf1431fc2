import { Bars } from "../../chart/bars.tsx";

const HOUR_MS = 3_600_000;
/** The newest hours that are drawn. */
const MOST_HOURS = 48;

export interface HourBarsProps {
  /** Those hours in which something happened, oldest first. */
  readonly hours: readonly { readonly at: string; readonly count: number }[];
}

/** A bar an hour up to the last one in which something happened. */
export function HourBars({ hours }: HourBarsProps) {
  const last = Date.parse(hours.at(-1)?.at ?? "");
  const counts = new Map(hours.map(({ at, count }) => [Date.parse(at), count]));
  const first = Math.max(Date.parse(hours[0]?.at ?? ""), last - (MOST_HOURS - 1) * HOUR_MS);
  const drawn = Number.isNaN(first) ? 0 : Math.round((last - first) / HOUR_MS) + 1;
  const bars = Array.from({ length: drawn }, (_, hour) => counts.get(first + hour * HOUR_MS) ?? 0);
  return (
    <Bars
      label={`by the hour, ${drawn} h: at most ${Math.max(0, ...bars)} an hour`}
      slots={MOST_HOURS}
      bars={bars.map((count) => [{ tone: "bad", count }])}
    />
  );
}
