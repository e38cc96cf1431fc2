import { useQuery } from "@tanstack/react-query";
import type { ReplayPage } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { deedWords } from "../../audit/change-words.ts";
import { Awaited } from "../../listing/loaded.tsx";
import { useLive } from "../../live/live.ts";
import { useThrottled } from "../../live/throttled.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useNaming } from "../../names/names.ts";
import { HeadedList } from "./headed-list.tsx";
import styles from "./overview-page.module.css";

const SHOWN = 5;
const LOOKED_AT = 50;
/** Of a session or a sign-in link: somebody came or went, and nothing was done to anything. */
const COMING = /^(ses|link)_/;
const LEAST_BETWEEN_MS = 1000;

/** What somebody changed lately, and replays that ended; the activity page has who signed in, too. */
export function Recently() {
  const query = useQuery(asked("GET /v1/audit", { query: { limit: LOOKED_AT } }));
  const replays = useQuery(asked("GET /v1/replays", {}));
  const look = useThrottled(() => query.refetch(), LEAST_BETWEEN_MS);
  useLive({ topics: ["audit"], filter: {}, onRows: look, onGap: look });
  const { nameOf, isSettled } = useNaming();
  if (query.isPending || replays.isPending || !isSettled) return <Awaited />;
  const changes = query.data?.data.filter(({ target }) => !COMING.test(target)) ?? [];
  const deeds = [
    ...changes.map((change) => ({
      ...{ key: change.requestId + change.id, time: change.time },
      words: (
        <>
          <strong>{change.actor}</strong> {deedWords(change)} {nameOf(change.target)}
        </>
      ),
    })),
    ...(replays.data?.data ?? []).flatMap((replay) =>
      replay.endedAt === null ? [] : [{ key: replay.id, time: replay.endedAt, words: endedWords(replay, nameOf) }],
    ),
  ];
  const shown = deeds.sort((a, b) => b.time.localeCompare(a.time)).slice(0, SHOWN);
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
      {shown.map(({ key, time, words }) => (
        <li key={key} className={styles["change"]}>
          <MomentText at={time} isShort withDistance />
          <span>{words}</span>
        </li>
      ))}
    </HeadedList>
  );
}

type Replay = ReplayPage["data"][number];

/** `Replay to Billing done: 12,340 delivered, 5 failed again`. */
function endedWords({ id, state, filter, delivered, failedAgain }: Replay, nameOf: (id: string) => string) {
  const target = filter.destinationId === undefined ? "" : ` to ${nameOf(filter.destinationId)}`;
  return (
    <>
      <a href={`/replays/${id}`}>Replay{target}</a> {state}
      {delivered !== null && `: ${countOf(delivered)} delivered`}
      {failedAgain !== null && `, ${countOf(failedAgain)} failed again`}
    </>
  );
}
