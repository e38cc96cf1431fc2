import { MomentText } from "../moment/moment-text.tsx";
import styles from "./listing.module.css";

export interface FreshnessProps {
  readonly asOf: string | null;
  readonly complete: boolean;
}

/** Of when a list is, and whether control has read all of it. */
export function Freshness({ asOf, complete }: FreshnessProps) {
  return (
    <p className={styles["small"]}>
      {asOf !== null && (
        <>
          as of <MomentText at={asOf} />
        </>
      )}
      {!complete && " · control is still reading: entries may be missing"}
    </p>
  );
}
