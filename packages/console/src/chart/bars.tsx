/** Numbers beside each other, drawn small; their meaning is said too. */
import styles from "./chart.module.css";

const WIDTH = 4;
const HEIGHT = 20;

export interface BarsProps {
  /** The meaning of the numbers, for screen readers. */
  readonly label: string;
  /** Each bar's parts, from the bottom up. */
  readonly bars: readonly (readonly BarPart[])[];
  /** How many bars fit side by side. */
  readonly slots: number;
}

export interface BarPart {
  readonly tone: "good" | "bad";
  readonly count: number;
}

/** As high as the largest of them; whatever is not nothing can be seen. */
export function Bars({ label, bars, slots }: BarsProps) {
  const most = Math.max(1, ...bars.map((parts) => parts.reduce((sum, { count }) => sum + count, 0)));
  const size = { width: slots * WIDTH, height: HEIGHT };
  return (
    <svg role="img" aria-label={label} className={styles["bars"]} viewBox={`0 0 ${size.width} ${HEIGHT}`} {...size}>
      {bars.map((parts, at) => {
        let top = HEIGHT;
        return parts.map(({ tone, count }) => {
          const height = count === 0 ? 0 : Math.max(1, Math.round((count / most) * HEIGHT));
          top -= height;
          const place = { x: at * WIDTH, y: top, width: WIDTH - 1, height };
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
          return <rect key={`${at} ${tone}`} className={styles[tone]} {...place} />;
        });
      })}
    </svg>
  );
}
