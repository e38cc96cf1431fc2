import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { DeliveryPage, EventVerdict } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { Copied } from "../../elements/copied.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { useLive } from "../../live/live.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { quoted } from "../../terminal/quoted.ts";
import { Mark } from "../../verdict/mark.tsx";
import { AttemptUrl } from "./attempt-url.tsx";
import { attemptWords, sentByWords } from "./attempt-words.ts";
import styles from "./event-page.module.css";

type Event = EventVerdict["events"][number];

/** The most that one page may hold, and more than an event has but where it was sent again and again. */
const MOST = 200;

export interface AttemptsProps {
  readonly messageId: string;
  readonly event: Pick<Event, "sourceId" | "destinations" | "sentByHand">;
  readonly nameOf: (id: string) => string;
}

/** Each POST that was made, by its URL, with the receiver's answer. The answer is text, whatever it holds. */
export function Attempts({ messageId, event, nameOf }: AttemptsProps) {
  const client = useQueryClient();
  const { sourceId } = event;
  const asks = asked("GET /v1/deliveries", { query: { messageId, sourceId, limit: MOST } });
  const query = useQuery(asks);
  useLive({
    topics: ["deliveries"],
    filter: { messageId },
    onRows: (rows) => {
      const came = rows.flatMap((each) => (each.topic === "deliveries" ? [each.row] : []));
      const its = came.filter((row) => row.messageId === messageId && row.sourceId === sourceId);
      client.setQueryData(asks.queryKey, (known) => known && { ...known, data: withNew(known.data, its) });
    },
    onGap: () => void client.invalidateQueries({ queryKey: asks.queryKey }),
  });
  return (
    <Loaded
      query={query}
      what="attempts"
      rows={2}
      isEmpty={({ data }) => data.length === 0}
      empty={<Empty>No attempt is logged.</Empty>}
    >
      {({ data, nextCursor }) => (
        <>
          <ul className={styles["attempts"]}>
            {data.map((attempt) => (
              <AttemptRow key={keyOf(attempt)} attempt={attempt} event={event} nameOf={nameOf} />
            ))}
          </ul>
          {nextCursor !== null && (
            <p className={styles["line"]}>
              The newest {MOST} stand here, earlier ones are in the log:
              <Copied what="command" text={`posthaste deliveries --message-id ${quoted(messageId)}`} />
            </p>
          )}
        </>
      )}
    </Loaded>
  );
}

export type Attempt = DeliveryPage["data"][number];

interface AttemptRowProps extends Pick<AttemptsProps, "event" | "nameOf"> {
  readonly attempt: Attempt;
}

function AttemptRow({ attempt, event: { destinations, sentByHand }, nameOf }: AttemptRowProps) {
  const { time, destinationId, outcome, replayId, urls } = attempt;
  const isStopped = destinations.some((each) => each.destinationId === destinationId && each.cause === "suppressed");
  return (
    <li>
      <p className={styles["line"]}>
        <Mark tone={outcome === "delivered" ? "good" : outcome === "retryable" ? "waiting" : "bad"}>
          {attemptWords(attempt)}
        </Mark>
        <MomentText at={time} /> <span className={styles["of"]}>{nameOf(destinationId)}</span>
        {replayId !== null && <span>{sentByWords(replayId, sentByHand)}</span>}
      </p>
      <ul className={styles["urls"]}>
        {urls.map((answered) => (
          <AttemptUrl
            key={answered.url}
            attempt={attempt}
            answered={answered}
            name={nameOf(destinationId)}
            isStopped={isStopped}
          />
        ))}
      </ul>
    </li>
  );
}

/** Newest first, as the list has them; an attempt read meanwhile does not come twice. */
function withNew(known: readonly Attempt[], came: readonly Attempt[]): readonly Attempt[] {
  const has = new Set(known.map(keyOf));
  return [...came.filter((each) => !has.has(keyOf(each))).reverse(), ...known];
}

function keyOf({ destinationId, time, attempt, replayId, urls }: Attempt): string {
  return JSON.stringify([destinationId, time, attempt, replayId, urls.map(({ url }) => url)]);
}
