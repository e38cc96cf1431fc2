import { ProgressBar } from "react-aria-components";
import styles from "./counted-bar.module.css";

export interface CountedBarProps {
  /** The counted thing, for screen readers. */
  readonly label: string;
  readonly count: number;
  readonly of: number;
}

/** How far something is that has a number. */
export function CountedBar({ label, count, of }: CountedBarProps) {
  return (
    <ProgressBar aria-label={label} value={count} maxValue={Math.max(1, of)} className={styles["progress"] ?? ""}>
      {({ percentage = 0 }) => (
        <svg className={styles["bar"]} viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden>
          <rect className={styles["track"]} width="100" height="1" />
          <rect className={styles["done"]} width={percentage} height="1" />
        </svg>
      )}
    </ProgressBar>
  );
}
