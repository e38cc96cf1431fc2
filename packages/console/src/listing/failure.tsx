/** That something could not be read (LD1 and LD2 of loaded.tsx). */
import type { UseQueryResult } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ApiProblem } from "../api/client.ts";
import { Button } from "../elements/button.tsx";
import { Copied } from "../elements/copied.tsx";
import { useLiveState } from "../live/live.ts";
import { MomentText } from "../moment/moment-text.tsx";
import styles from "./listing.module.css";

/** How often control is asked again that does not answer. */
const AGAIN_MS = 5000;
/** Statuses of a proxy before control, and of control without its brokers. */
const NO_ANSWERS: ReadonlySet<number | null> = new Set([null, 502, 503, 504]);

export type FailingQuery = Pick<
  UseQueryResult<unknown>,
  "data" | "error" | "errorUpdatedAt" | "errorUpdateCount" | "isFetching" | "refetch"
>;

export interface Fault {
  readonly error: Error;
  readonly sinceMs: number;
}

/** LD1: the failure of a query until it was read; null for none. A query that is asked for anew is another. */
export function useFault({ data, error, errorUpdatedAt, errorUpdateCount }: FailingQuery): Fault | null {
  const kept = useRef<Fault | null>(null);
  if (error !== null) {
    const isSame = errorUpdateCount > 1 && kept.current?.error.message === error.message;
    kept.current = { error, sinceMs: isSame && kept.current !== null ? kept.current.sinceMs : errorUpdatedAt };
  } else if (data !== undefined || errorUpdateCount === 0) {
    kept.current = null;
  }
  return kept.current;
}

export interface FailureProps {
  readonly query: FailingQuery;
  readonly what: string;
  readonly fault: Fault;
}

export function Failure({ query, what, fault: { error, sinceMs } }: FailureProps) {
  const problem = error instanceof ApiProblem ? error : null;
  const isTried = useTries(query, problem !== null && NO_ANSWERS.has(problem.status));
  return (
    <section role="alert" data-state="error" className={styles["failure"]}>
      <p>
        <strong>{problem?.status === 403 ? `You may not see ${what}` : `The ${what} could not be read`}</strong>:{" "}
        {error.message}.
      </p>
      <p className={styles["small"]}>
        Since <MomentText at={new Date(sinceMs).toISOString()} withDistance />
        {query.data !== undefined && "; what was read before stands below"}
        {isTried && "; it is tried again every five seconds"}
        {problem !== null && problem.requestId !== null && (
          <>
            . Request <Copied what="request id" text={problem.requestId} />
          </>
        )}
      </p>
      <div>
        <Button onPress={() => void query.refetch()} isPending={query.isFetching}>
          Try again
        </Button>
      </div>
    </section>
  );
}

/** LD2: whether it is tried again by itself, except while live updates are paused. */
function useTries({ refetch }: FailingQuery, isUnanswered: boolean): boolean {
  const { state } = useLiveState();
  const isTried = isUnanswered && state !== "paused";
  const again = useRef(refetch);
  again.current = refetch;
  useEffect(() => {
    if (!isTried) return;
    const timer = setInterval(() => {
      if (!document.hidden) void again.current({ cancelRefetch: false });
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [isTried]);
  return isTried;
}
