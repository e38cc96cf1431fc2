import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useAgain } from "../../api/again.ts";
import { asked } from "../../api/asked.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { useLive } from "../../live/live.ts";
import { useNames } from "../../names/names.ts";
import { causeWords } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import { Sentence } from "../../verdict/sentence.tsx";
import { Timeline } from "../event/timeline.tsx";
import styles from "./connect.module.css";

/** While it is under way: a moment as a rule, hours where the receiver fails. */
const AGAIN = { leastMs: 300, mostMs: 10_000 };

export interface FirstEventProps {
  readonly messageId: string;
  /** The next actions. */
  readonly children: ReactNode;
}

/** The first event on its way: received, routed, delivered, each with its time. */
export function FirstEvent({ messageId, children }: FirstEventProps) {
  const again = useAgain(AGAIN);
  const query = useQuery({
    ...asked("GET /v1/events/{messageId}", { params: { messageId } }),
    refetchInterval: ({ state: { data } }) =>
      data === undefined || data.cause === "unknown" || causeWords(data.cause).tone === "waiting" ? again() : false,
  });
  const look = (): void => void query.refetch();
  useLive({ topics: ["deliveries"], filter: { messageId }, onRows: look, onGap: look });
  const nameOf = useNames();
  const { data } = query;
  const isKnown = data !== undefined && data.cause !== "unknown";
  return (
    <section className={styles["waiting"]} aria-label="First event">
      <p role="status">
        {isKnown ? (
          <Mark tone={causeWords(data.cause).tone}>{causeWords(data.cause).words}</Mark>
        ) : (
          <Mark tone="waiting">Sent, on its way</Mark>
        )}
      </p>
      {isKnown && (
        <>
          <p>
            <Sentence>{data.sentence}</Sentence>
          </p>
          {data.events.map(({ sourceId, receivedAt, timeline, destinations }) => (
            <Timeline key={`${sourceId} ${receivedAt}`} steps={timeline} coming={destinations} nameOf={nameOf} />
          ))}
        </>
      )}
      {children}
      <ActionLink href={`/events/${encodeURIComponent(messageId)}`}>All about this event</ActionLink>
    </section>
  );
}
