import { call } from "../../api/client.ts";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { useNames } from "../../names/names.ts";
import { Mark } from "../../verdict/mark.tsx";
import { NOTIFICATION_STATES, type Notification, numbered } from "./deletion-words.ts";
import styles from "./deletions.module.css";

/** Each notification of a request, which leads to its event's verdict. */
export function NotificationList({ id }: { readonly id: string }) {
  const nameOf = useNames();
  return (
    <PagedList
      queryKey={["GET /v1/deletions/{id}/notifications", id]}
      read={({ signal, ...page }) =>
        call("GET /v1/deletions/{id}/notifications", { params: { id }, query: page, signal })
      }
      what="notifications"
      isNamed
      idOf={({ messageId, destinationId }) => `${messageId} ${destinationId}`}
      textOf={({ userId, destinationId, state }) => `${userId} ${nameOf(destinationId)} ${state}`}
      linkOf={({ messageId }) => `/events/${encodeURIComponent(messageId)}`}
      copyOf={({ messageId }) => messageId}
      rowClass={styles["notification"]}
      empty={
        <Empty action={<a href="/destinations">Destinations</a>}>
          Nobody was told: none of the sources had a destination that was on.
        </Empty>
      }
    >
      {(notification) => <NotificationRow notification={notification} nameOf={nameOf} />}
    </PagedList>
  );
}

interface NotificationRowProps {
  readonly notification: Notification;
  readonly nameOf: (id: string) => string;
}

function NotificationRow({ notification, nameOf }: NotificationRowProps) {
  const { userId, sourceId, destinationId, state, attempts, lastAttemptAt } = notification;
  const [words, tone] = NOTIFICATION_STATES[state];
  return (
    <>
      <code>{userId}</code>
      <span>
        {nameOf(sourceId)} → {nameOf(destinationId)}
      </span>
      <Mark tone={tone}>{words}</Mark>
      <span className={styles["detail"]}>
        {numbered(attempts, "attempt")}
        {lastAttemptAt !== null && (
          <>
            , last <MomentText at={lastAttemptAt} withDistance />
          </>
        )}
      </span>
    </>
  );
}
