/** How far a count is that takes longer than a moment: a million dead letters take seconds. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import type { CountingPlans, ReplayInput } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { CountedBar } from "../../chart/counted-bar.tsx";
import { countOf } from "../../moment/numbers.ts";
import styles from "./replay.module.css";

/** Most counts are over by then. */
const LONG_MS = 1000;
const LOOK_MS = 500;

type Counting = CountingPlans["data"][number];

/** The progress of the count of `input` while it is made; undefined while there is none. */
export function useCounting(input: ReplayInput, isCounting: boolean): ReactNode {
  const isLong = useLong(isCounting);
  const { data } = useQuery({
    ...asked("GET /v1/replays/counting", {}),
    ...{ enabled: isLong, refetchInterval: LOOK_MS, staleTime: 0, gcTime: 0 },
  });
  const own = data?.data.find((each) => isOf(each, input));
  if (!isLong || own === undefined || (own.before === 0 && own.of === null)) return undefined;
  return <Reported counting={own} />;
}

function Reported({ counting: { looked, of, before } }: { readonly counting: Counting }) {
  if (before > 0 || of === null) return <p>Waiting for {before === 1 ? "another count" : "other counts"}.</p>;
  return (
    <div className={styles["summary"]}>
      <p>
        Counting: <strong>{countOf(looked)}</strong> of about {countOf(of)} dead letters looked at.
      </p>
      <CountedBar label="Counted" count={looked} of={of} />
    </div>
  );
}

/** True from a second after it began. */
function useLong(isCounting: boolean): boolean {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (!isCounting) return;
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => {
      clearTimeout(timer);
      setLong(false);
    };
  }, [isCounting]);
  return isLong && isCounting;
}

/** Whether it is the count of `input`: control returns it with the fields of the request. */
function isOf(
  { purpose, again, filter }: Counting,
  { again: isAgain = false, dryRun: _, ...input }: ReplayInput,
): boolean {
  return purpose === "replay" && again === isAgain && wordsOf(filter) === wordsOf(input);
}

function wordsOf({ since, until, ...others }: Counting["filter"]): string {
  const known = Object.entries({ ...others, since: atMs(since), until: atMs(until) });
  return JSON.stringify(known.filter(([, value]) => value !== undefined).sort());
}

function atMs(moment: string | undefined): number | undefined {
  return moment === undefined ? undefined : Date.parse(moment);
}
