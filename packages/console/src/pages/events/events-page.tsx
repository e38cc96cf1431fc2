/** Events by user and by name, each with its verdict: for a search without a message id. */
import { useSearch } from "@tanstack/react-router";
import type { EventPage, Operations } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Copied, CopiedId } from "../../elements/copied.tsx";
import elements from "../../elements/elements.module.css";
import type { Column } from "../../listing/column.ts";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { Ago } from "../../moment/moment-text.tsx";
import { EventName, eventName } from "../../names/event-name.tsx";
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
        textOf={({ type, event, messageId, sentence }) => `${eventName({ type, event })} ${messageId} ${sentence}`}
        linkOf={({ messageId }) => `/events/${encodeURIComponent(messageId)}`}
        copyOf={({ messageId }) => messageId}
        columns={columnsOf(nameOf)}
        className={styles["events"]}
        empty={
          <Empty
            action={<a href="/deliveries">Deliveries</a>}
            command={command ?? "posthaste events find --user-id USER_ID"}
          >
            No event that fits is written down. A name and a user id are looked for whole, as they were sent.
          </Empty>
        }
      />
    </>
  );
}

function columnsOf(nameOf: (id: string) => string): readonly Column<Event>[] {
  return [
    {
      ...{ key: "event", heading: "Event", narrow: "title", wholeOf: eventName },
      cell: ({ type, event }) => <EventName type={type} event={event} />,
    },
    { key: "user", heading: "User", narrow: "labelled", wholeOf: userOf, cell: userOf },
    {
      ...{ key: "source", heading: "Source", narrow: "hidden" },
      wholeOf: ({ sourceId }) => nameOf(sourceId),
      cell: ({ sourceId }) => nameOf(sourceId),
    },
    {
      ...{ key: "verdict", heading: "State", narrow: "line", wholeOf: ({ sentence }) => sentence },
      cell: ({ cause, sentence }) => <Verdict cause={cause} sentence={sentence} />,
    },
    {
      ...{ key: "received", heading: "Received", narrow: "side" },
      cell: ({ receivedAt }) => (receivedAt === null ? "not known" : <Ago at={receivedAt} />),
    },
    {
      ...{ key: "id", heading: "Message ID", narrow: "hidden" },
      cell: ({ messageId }) => <CopiedId what="message id" id={messageId} />,
    },
  ];
}

function userOf({ userKey }: Event): string {
  return userKey ?? "";
}

function Verdict({ cause, sentence }: Pick<Event, "cause" | "sentence">) {
  const { words, tone } = causeWords(cause);
  return (
    <>
      <Mark tone={tone}>{words}</Mark>{" "}
      <span className={styles["detail"]}>
        <Sentence>{sentence}</Sentence>
      </span>
    </>
  );
}
