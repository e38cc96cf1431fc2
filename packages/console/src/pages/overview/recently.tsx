import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ReplayPage } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { type Change, deedWords } from "../../audit/change-words.ts";
import { Awaited } from "../../listing/loaded.tsx";
import { useLive, usePausable } from "../../live/live.ts";
import type { LiveRow } from "../../live/live-stream.ts";
import { useThrottled } from "../../live/throttled.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useNaming } from "../../names/names.ts";
import { HeadedList } from "./headed-list.tsx";
import styles from "./overview-page.module.css";
import { toWhere } from "./running-replays.tsx";

const SHOWN = 5;
const LOOKED_AT = 50;
/** Of a session or a sign-in link: somebody came or went, and nothing was done to anything. */
const COMING = /^(ses|link)_/;
const LEAST_BETWEEN_MS = 1000;
const AGAIN_MS = 15_000;

type Replay = ReplayPage["data"][number];

/** The latest changes, and replays that ended; the activity page has sign-ins, too. */
export function Recently() {
  const query = useQuery(asked("GET /v1/audit", { query: { limit: LOOKED_AT } }));
  // Deliveries of a replay come to an end after the replay does.
  const refetchInterval = usePausable(AGAIN_MS);
  const replays = useQuery({ ...asked("GET /v1/replays", { query: { order: "newest_first" } }), refetchInterval });
  const look = useThrottled(() => Promise.all([query.refetch(), replays.refetch()]), LEAST_BETWEEN_MS);
  const onRows = (rows: readonly LiveRow[]) => {
    if (rows.some(isTold)) look();
  };
  useLive({ topics: ["audit", "replays"], filter: {}, onRows, onGap: look });
  const { nameOf, isSettled } = useNaming();
  if (query.isPending || replays.isPending || !isSettled) return <Awaited />;
  const ended = replays.data?.data.filter(({ endedAt }) => endedAt !== null) ?? [];
  const shown = reported([
    ...changesOf(query.data?.data ?? [], ended, withReplays(replays.data?.data ?? [], nameOf)),
    ...ended.map((replay) => endedDeed(replay, nameOf)),
  ]);
  if (shown.length === 0) return null;
  return (
    <HeadedList
      id="recently"
      head="Recently"
      after={
        <p className={styles["more"]}>
          <a href="/activity">All activity</a>
        </p>
      }
    >
      {shown.map(({ key, time, words, times }) => (
        <li key={key} className={styles["change"]}>
          <MomentText at={time} isShort withDistance />
          <span>
            {words}
            {times > 1 && `, ${countOf(times)} times`}
          </span>
        </li>
      ))}
    </HeadedList>
  );
}

/** A change, or a replay that has ended: the rows of a running one come each second. */
function isTold(live: LiveRow): boolean {
  return live.topic === "audit" || (live.topic === "replays" && live.row.endedAt !== null);
}

/** Replays by where they lead: they have no name. */
function withReplays(replays: readonly Replay[], nameOf: (id: string) => string): (id: string) => string {
  const names = new Map(replays.map(({ id, filter }) => [id, `the replay${toWhere(filter.destinationId, nameOf)}`]));
  return (id) => names.get(id) ?? nameOf(id);
}

interface Deed {
  readonly key: string;
  readonly time: string;
  /** The same of two deeds that are told alike. */
  readonly text: string;
  readonly words: ReactNode;
}

/** The newest, those that follow one another and are told alike as one. */
function reported(deeds: readonly Deed[]): readonly (Deed & { readonly times: number })[] {
  const lines: (Deed & { readonly times: number })[] = [];
  for (const deed of deeds.toSorted((a, b) => b.time.localeCompare(a.time))) {
    const newer = lines.at(-1);
    if (newer?.text === deed.text) lines.splice(-1, 1, { ...newer, times: newer.times + 1 });
    else lines.push({ ...deed, times: 1 });
  }
  return lines.slice(0, SHOWN);
}

/** Without sign-ins and sign-outs; and without a replay that ended, whose end is told. */
function changesOf(
  changes: readonly Change[],
  ended: readonly Replay[],
  nameOf: (id: string) => string,
): readonly Deed[] {
  const endedIds = new Set(ended.map(({ id }) => id));
  return changes
    .filter(({ target }) => !COMING.test(target) && !endedIds.has(target))
    .map((change) => {
      const deed = deedWords(change, nameOf);
      return {
        ...{ key: `${change.requestId} ${change.id}`, time: change.time, text: `${change.actor} ${deed}` },
        words: (
          <>
            <strong>{change.actor}</strong> {deed}
          </>
        ),
      };
    });
}

/** `Replay to Billing done: 12,340 delivered, 5 failed again`. */
function endedDeed(replay: Replay, nameOf: (id: string) => string): Deed {
  const { id, state, filter, delivered, failedAgain, endedAt, createdAt } = replay;
  const target = toWhere(filter.destinationId, nameOf);
  return {
    ...{ key: id, time: endedAt ?? createdAt, text: id },
    words: (
      <>
        <a href={`/replays/${id}`}>Replay{target}</a> {state}
        {delivered !== null && `: ${countOf(delivered)} delivered`}
        {failedAgain !== null && `, ${countOf(failedAgain)} failed again`}
      </>
    ),
  };
}
