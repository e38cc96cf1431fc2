import { useQuery } from "@tanstack/react-query";
import { asked } from "../../api/asked.ts";
import { Copied } from "../../elements/copied.tsx";
import { usePausable } from "../../live/live.ts";
import { countOf } from "../../moment/numbers.ts";
import styles from "./dead-letters-page.module.css";

/** The most that one page may hold. */
const PAGE = 200;
const AGAIN_MS = 60_000;

/** Records that no service could read: how many, and of which topics. They are seen to at the terminal. */
export function UnreadablePart() {
  const { data } = useQuery({
    ...asked("GET /v1/unreadable", { query: { limit: PAGE } }),
    ...{ refetchInterval: usePausable(AGAIN_MS), retry: false },
  });
  if (data === undefined || data.data.length === 0) return null;
  const topics = new Map<string, number>();
  for (const { topic } of data.data) topics.set(topic, (topics.get(topic) ?? 0) + 1);
  const isMore = data.nextCursor !== null;
  return (
    <section aria-label="Unreadable records" className={styles["unreadable"]}>
      <h2>Unreadable records</h2>
      <p>
        {isMore ? `More than ${PAGE}` : countOf(data.data.length)} {data.data.length === 1 ? "record" : "records"} could
        not be read by any service{isMore && "; the newest"}:{" "}
        {[...topics].map(([topic, count]) => `${countOf(count)} of ${topic}`).join(", ")}.
      </p>
      <Copied what="command" text="posthaste dead-letters unreadable list" />
    </section>
  );
}
