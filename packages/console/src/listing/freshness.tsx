import { useQuery } from "@tanstack/react-query";
import type { Status } from "../api/api-types.ts";
import { CountedBar } from "../chart/counted-bar.tsx";
import { MomentText } from "../moment/moment-text.tsx";
import { countOf } from "../moment/numbers.ts";
import { shareOf } from "../status/health-words.ts";
import { statusQuery } from "../status/status.ts";
import styles from "./listing.module.css";

/** While control reads for the first time. */
const AGAIN_MS = 2000;

export interface FreshnessProps {
  readonly asOf: string | null;
  readonly complete: boolean;
}

/** Of when a list is, and whether control has read all of it. */
export function Freshness({ asOf, complete }: FreshnessProps) {
  return (
    <div className={styles["small"]}>
      {asOf !== null && (
        <>
          as of <MomentText at={asOf} />
        </>
      )}
      {!complete && <StillReading />}
    </div>
  );
}

/** How far control is, where it reads its topics for the first time since its start. */
function StillReading() {
  const { data } = useQuery({
    ...statusQuery,
    refetchInterval: ({ state }) => (readingOf(state.data) === null ? false : AGAIN_MS),
  });
  const reading = readingOf(data);
  if (reading === null) return <> · control is still reading: entries may be missing</>;
  const { left, of } = reading;
  return (
    <>
      {` · control is still reading, ${shareOf((of - left) / of)} of ${countOf(of)} records: entries may be missing, deliveries go on`}
      <div className={styles["reading"]}>
        <CountedBar label="what control has read" count={of - left} of={of} />
      </div>
    </>
  );
}

function readingOf(status: Status | undefined): Status["readModel"]["reading"] {
  const reading = status?.readModel.reading ?? null;
  return reading !== null && reading.of > 0 ? reading : null;
}
