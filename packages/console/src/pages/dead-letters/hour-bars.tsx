import styles from "./dead-letters-page.module.css";

const HOUR_MS = 3_600_000;
/** The newest hours that are drawn. */
const MOST_HOURS = 48;
const WIDTH = 4;
const HEIGHT = 20;

export interface HourBarsProps {
  /** Those hours in which something happened, oldest first. */
  readonly hours: readonly { readonly at: string; readonly count: number }[];
}

/** A bar an hour up to the last one in which something happened. */
export function HourBars({ hours }: HourBarsProps) {
  const last = Date.parse(hours.at(-1)?.at ?? "");
  const counts = new Map(hours.map(({ at, count }) => [Date.parse(at), count]));
  const first = Math.max(Date.parse(hours[0]?.at ?? ""), last - (MOST_HOURS - 1) * HOUR_MS);
  const bars = Number.isNaN(first) ? 0 : Math.round((last - first) / HOUR_MS) + 1;
  const most = Math.max(1, ...counts.values());
  return (
    <svg
      role="img"
      aria-label={`by the hour, ${bars} h: at most ${most} an hour`}
      className={styles["bars"]}
      viewBox={`0 0 ${MOST_HOURS * WIDTH} ${HEIGHT}`}
      width={MOST_HOURS * WIDTH}
      height={HEIGHT}
    >
      {Array.from({ length: bars }, (_, hour) => {
        const height = Math.round(((counts.get(first + hour * HOUR_MS) ?? 0) / most) * HEIGHT);
        // biome-ignore lint/suspicious/noArrayIndexKey: an hour's place is what it is
        return <rect key={hour} x={hour * WIDTH} y={HEIGHT - height} width={WIDTH - 1} height={height} />;
      })}
    </svg>
  );
}
