import { useQuery } from "@tanstack/react-query";
import { asked } from "../../api/asked.ts";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./event-page.module.css";

export interface AttemptsProps {
  readonly messageId: string;
  readonly sourceId: string;
}

/** Each POST that was made, by its URL, with what the receiver answered. The answer is text, whatever it holds. */
export function Attempts({ messageId, sourceId }: AttemptsProps) {
  const query = useQuery(asked("GET /v1/deliveries", { query: { messageId, sourceId } }));
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
            {data.map(({ time, destinationId, attempt, outcome, replayId, urls }) => (
              <li key={`${destinationId} ${time} ${attempt}`}>
                <p>
                  <Mark tone={outcome === "delivered" ? "good" : outcome === "retryable" ? "waiting" : "bad"}>
                    {`attempt ${attempt}: ${outcome}`}
                  </Mark>{" "}
                  <MomentText at={time} /> <code className={styles["of"]}>{destinationId}</code>
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
            ))}
          </ul>
        )}
      </Loaded>
    </>
  );
}
