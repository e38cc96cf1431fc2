import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { againMs } from "../api/again.ts";
import type { Status } from "../api/api-types.ts";
import { CountedBar } from "../chart/counted-bar.tsx";
import { usePausable } from "../live/live.ts";
import { MomentText } from "../moment/moment-text.tsx";
import { countOf } from "../moment/numbers.ts";
import { shareOf } from "../status/health-words.ts";
import { statusQuery } from "../status/status.ts";
import styles from "./listing.module.css";

/** While control reads for the first time. */
const AGAIN_MS = 2000;
/** After that, until the shown data is read whole. */
const WHOLE_AGAIN = { leastMs: 5000, mostMs: 60_000 };
/** The last of a list's key whose rows stay where they are until they are asked for anew (QL1 of paged-list.tsx). */
export const SHOWN_PAGES = "pages";

export interface FreshnessProps {
  readonly asOf: string | null;
  readonly complete: boolean;
  /** The reason why newer rows are not known. */
  readonly failure?: Error | null;
}

/** Of when a list is, and whether control has read all of it. */
export function Freshness({ asOf, complete, failure = null }: FreshnessProps) {
  return (
    <div className={styles["small"]}>
      {asOf !== null && (
        <>
          as of <MomentText at={asOf} isShort />
        </>
      )}
      {!complete && <StillReading isFirst={asOf === null} />}
      {failure !== null && ` · what came since could not be read: ${failure.message}`}
    </div>
  );
}

/**
 * How far control is, where it reads its topics for the first time since its start. The page's data is read again when
 * that is over. `isFirst`: nothing stands before it.
 */
function StillReading({ isFirst }: { readonly isFirst: boolean }) {
  const againMs = usePausable(AGAIN_MS);
  const { data } = useQuery({
    ...statusQuery,
    refetchInterval: ({ state }) => (readingOf(state.data) === null ? false : againMs),
  });
  const reading = readingOf(data);
  useReadAgain(data !== undefined && reading === null && againMs !== false);
  const before = isFirst ? "" : " · ";
  if (reading === null) return <>{before}control is still reading: entries may be missing</>;
  const { left, of } = reading;
  return (
    <>
      {`${before}control is still reading, ${shareOf((of - left) / of)} of ${countOf(of)} records: `}
      entries may be missing, deliveries go on
      <div className={styles["reading"]}>
        <CountedBar label="what control has read" count={of - left} of={of} />
      </div>
    </>
  );
}

function useReadAgain(isOver: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!isOver) return;
    const sinceMs = Date.now();
    let timer: ReturnType<typeof setTimeout>;
    const read = (): void => {
      if (!document.hidden) {
        void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey.at(-1) !== SHOWN_PAGES });
      }
      timer = setTimeout(read, againMs(WHOLE_AGAIN, Date.now() - sinceMs));
    };
    read();
    return () => clearTimeout(timer);
  }, [client, isOver]);
}

function readingOf(status: Status | undefined): Status["readModel"]["reading"] {
  const reading = status?.readModel.reading ?? null;
  return reading !== null && reading.of > 0 ? reading : null;
}
