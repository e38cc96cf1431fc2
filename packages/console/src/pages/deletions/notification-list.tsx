import { call } from "../../api/client.ts";
import type { Column } from "../../listing/column.ts";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { Ago } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useNames } from "../../names/names.ts";
import { Mark } from "../../verdict/mark.tsx";
import { NOTIFICATION_STATES, type Notification } from "./deletion-words.ts";
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
      columns={columnsOf(nameOf)}
      className={styles["notifications"]}
      empty={
        <Empty action={<a href="/destinations">Destinations</a>}>
          Nobody was told: none of the sources had a destination that was on.
        </Empty>
      }
    />
  );
}

function columnsOf(nameOf: (id: string) => string): readonly Column<Notification>[] {
  return [
    {
      ...{ key: "user", heading: "User", narrow: "title", wholeOf: ({ userId }) => userId },
      cell: ({ userId }) => <code>{userId}</code>,
    },
    {
      ...{ key: "source", heading: "Source", narrow: "labelled", wholeOf: ({ sourceId }) => nameOf(sourceId) },
      cell: ({ sourceId }) => nameOf(sourceId),
    },
    {
      ...{ key: "destination", heading: "Destination", narrow: "labelled" },
      wholeOf: ({ destinationId }) => nameOf(destinationId),
      cell: ({ destinationId }) => nameOf(destinationId),
    },
    { key: "state", heading: "State", narrow: "side", cell: ({ state }) => <State state={state} /> },
    {
      ...{ key: "attempts", heading: "Attempts", narrow: "labelled", isFigure: true },
      cell: ({ attempts }) => countOf(attempts),
    },
    {
      ...{ key: "last", heading: "Last attempt", narrow: "labelled" },
      cell: ({ lastAttemptAt }) => (lastAttemptAt === null ? "none" : <Ago at={lastAttemptAt} />),
    },
  ];
}

function State({ state }: Pick<Notification, "state">) {
  const [words, tone] = NOTIFICATION_STATES[state];
  return <Mark tone={tone}>{words}</Mark>;
}
