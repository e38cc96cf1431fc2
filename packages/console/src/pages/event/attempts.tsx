import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { DeliveryPage } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { useLive } from "../../live/live.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./event-page.module.css";

export interface AttemptsProps {
  readonly messageId: string;
  readonly sourceId: string;
  readonly nameOf: (id: string) => string;
}

/** Each POST that was made, by its URL, with what the receiver answered. The answer is text, whatever it holds. */
export function Attempts({ messageId, sourceId, nameOf }: AttemptsProps) {
  const client = useQueryClient();
  const asks = asked("GET /v1/deliveries", { query: { messageId, sourceId } });
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
    <>
      <h3>Attempts</h3>
      <Loaded
        query={query}
        what="attempts"
        rows={2}
        isEmpty={({ data }) => data.length === 0}
        empty={<Empty>No attempt is logged.</Empty>}
      >
        {({ data }) => (
          <ul className={styles["attempts"]}>
            {data.map((attempt) => (
              <AttemptRow key={keyOf(attempt)} attempt={attempt} nameOf={nameOf} />
            ))}
          </ul>
        )}
      </Loaded>
    </>
  );
}

type Attempt = DeliveryPage["data"][number];

function AttemptRow({
  attempt: { time, destinationId, attempt, outcome, replayId, urls },
  nameOf,
}: Pick<AttemptsProps, "nameOf"> & {
  readonly attempt: Attempt;
}) {
  return (
    <li>
      <p>
        <Mark tone={outcome === "delivered" ? "good" : outcome === "retryable" ? "waiting" : "bad"}>
          {`attempt ${attempt}: ${outcome}`}
        </Mark>{" "}
        <MomentText at={time} /> <span className={styles["of"]}>{nameOf(destinationId)}</span>
        {replayId !== null && " sent again by hand"}
      </p>
      <ul>
        {urls.map(({ url, status, error, durationMs, answer }) => (
          <li key={url} className={styles["url"]}>
            <code>{url}</code>
            <span>
              {status ?? error ?? "no answer"} · {durationMs} ms
            </span>
            {answer !== null && answer !== "" && <pre className={styles["answer"]}>{answer}</pre>}
          </li>
        ))}
      </ul>
    </li>
  );
}

/** Newest first, as the list has them; what was read meanwhile does not come twice. */
function withNew(known: readonly Attempt[], came: readonly Attempt[]): readonly Attempt[] {
  const has = new Set(known.map(keyOf));
  return [...came.filter((each) => !has.has(keyOf(each))).reverse(), ...known];
}

function keyOf({ destinationId, time, attempt, replayId, urls }: Attempt): string {
  return JSON.stringify([destinationId, time, attempt, replayId, urls.map(({ url }) => url)]);
}
