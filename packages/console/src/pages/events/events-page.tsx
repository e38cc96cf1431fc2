/** Events by user and by name, each with its verdict: for a search without a message id. */
import { useSearch } from "@tanstack/react-router";
import type { EventPage, Operations } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Copied } from "../../elements/copied.tsx";
import elements from "../../elements/elements.module.css";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { useNames } from "../../names/names.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { causeWords } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import { Sentence } from "../../verdict/sentence.tsx";
import { EVENT_FILTERS, findCommand } from "./event-filter.ts";
import styles from "./events-page.module.css";

type Event = EventPage["data"][number];
type Query = Operations["GET /v1/events"]["query"];

export function EventsPage() {
  const filter = useSearch({ from: "/events" });
  const nameOf = useNames();
  const command = findCommand(filter);
  return (
    <>
      <PageTitle>Events</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Events</h1>
      </div>
      <FilterBar fields={EVENT_FILTERS} filter={filter} />
      {command !== null && <Copied what="command" text={command} />}
      <PagedList
        queryKey={["GET /v1/events", filter]}
        read={({ signal, ...page }) =>
          // Control reports values of the address that do not fit.
          call("GET /v1/events", { query: { ...(filter as Query), ...page }, signal })
        }
        what="events"
        isNamed
        idOf={({ sourceId, messageId }) => JSON.stringify([sourceId, messageId])}
        textOf={({ type, event, messageId, sentence }) => `${type ?? ""} ${event ?? ""} ${messageId} ${sentence}`}
        linkOf={({ messageId }) => `/events/${encodeURIComponent(messageId)}`}
        copyOf={({ messageId }) => messageId}
        rowClass={styles["event"]}
        empty={
          <Empty
            action={<a href="/deliveries">Deliveries</a>}
            command={command ?? "posthaste events find --user-id USER_ID"}
          >
            No event that fits is written down. A name and a user id are looked for whole, as they were sent.
          </Empty>
        }
      >
        {(event) => <EventRow event={event} nameOf={nameOf} />}
      </PagedList>
    </>
  );
}

interface EventRowProps {
  readonly event: Event;
  readonly nameOf: (id: string) => string;
}

function EventRow({ event: reported, nameOf }: EventRowProps) {
  const { receivedAt, type, event, userKey, sourceId, cause, sentence, messageId } = reported;
  const { words, tone } = causeWords(cause);
  return (
    <>
      {receivedAt === null ? <span>time not known</span> : <MomentText at={receivedAt} />}
      <span className={styles["what"]}>
        {type ?? "a call"} {event}
      </span>
      <span className={styles["detail"]}>
        {userKey === null ? "" : `user ${userKey}, `}from {nameOf(sourceId)}
      </span>
      <Mark tone={tone}>{words}</Mark>
      <code className={styles["detail"]}>{messageId}</code>
      <span className={styles["sentence"]}>
        <Sentence>{sentence}</Sentence>
      </span>
    </>
  );
}
