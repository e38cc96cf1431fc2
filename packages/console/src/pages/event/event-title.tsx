/** The title of an event: `Order Completed · user-3`, and its message id. */
import { useQuery } from "@tanstack/react-query";
import { asked } from "../../api/asked.ts";
import { Copied } from "../../elements/copied.tsx";
import { eventName } from "../../names/event-name.tsx";
import styles from "./event-page.module.css";

/** The words of the newest event under a message id; null where none is known. */
export function useEventTitle(messageId: string): string | null {
  const { data } = useQuery(asked("GET /v1/events/{messageId}", { params: { messageId } }));
  const [event] = data?.events ?? [];
  if (event === undefined || event.type === null) return null;
  return [eventName(event), event.userKey].filter((each) => each !== null).join(" · ");
}

/** Within a heading. As high before the title is known. */
export function EventTitle({ messageId }: { readonly messageId: string }) {
  return (
    <>
      <span className={styles["title"]}>{useEventTitle(messageId) ?? "Event"}</span>
      <span className={styles["id"]}>
        <Copied what="message id" text={messageId} />
      </span>
    </>
  );
}
