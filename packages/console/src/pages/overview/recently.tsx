import { useQuery } from "@tanstack/react-query";
import { asked } from "../../api/asked.ts";
import { deedWords } from "../../audit/change-words.ts";
import { Awaited } from "../../listing/loaded.tsx";
import { useLive } from "../../live/live.ts";
import { useThrottled } from "../../live/throttled.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { useNaming } from "../../names/names.ts";
import styles from "./overview-page.module.css";

const SHOWN = 5;
const LOOKED_AT = 50;
/** Of a session or a sign-in link: somebody came or went, and nothing was done to anything. */
const COMING = /^(ses|link)_/;
const LEAST_BETWEEN_MS = 1000;

/** What somebody changed lately; the activity page has who signed in, too. */
export function Recently() {
  const query = useQuery(asked("GET /v1/audit", { query: { limit: LOOKED_AT } }));
  const look = useThrottled(() => query.refetch(), LEAST_BETWEEN_MS);
  useLive({ topics: ["audit"], filter: {}, onRows: look, onGap: look });
  const { nameOf, isSettled } = useNaming();
  const changes = query.data?.data.filter(({ target }) => !COMING.test(target)).slice(0, SHOWN) ?? [];
  if (query.isPending || !isSettled) return <Awaited />;
  if (changes.length === 0) return null;
  return (
    <section aria-labelledby="recently">
      <h2 id="recently" className={styles["head"]}>
        Recently
      </h2>
      <ul>
        {changes.map((change) => (
          <li key={change.requestId + change.id} className={styles["change"]}>
            <MomentText at={change.time} isShort withDistance />
            <span>
              <strong>{change.actor}</strong> {deedWords(change)} {nameOf(change.target)}
            </span>
          </li>
        ))}
      </ul>
      <p className={styles["more"]}>
        <a href="/activity">All activity</a>
      </p>
    </section>
  );
}
