/** The dead letters of a group, newest first, each with its place in the topic. */
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { Dialog as AriaDialog, DialogTrigger, Popover } from "react-aria-components";
import type { DeadLetterPage, Operations } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { commandOf, LISTED_FILTERS, type ListedFilterKey } from "../../dead-letters/dead-letter-filter.ts";
import { reasonWords } from "../../dead-letters/reason-words.ts";
import { reviewOf } from "../../dead-letters/replay-filter.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { Button } from "../../elements/button.tsx";
import { Copied, CopiedId } from "../../elements/copied.tsx";
import elements from "../../elements/elements.module.css";
import menus from "../../elements/menu.module.css";
import type { Column } from "../../listing/column.ts";
import type { Filter } from "../../listing/filter.ts";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import type { LiveFilter } from "../../live/live-stream.ts";
import { Ago } from "../../moment/moment-text.tsx";
import { numbered } from "../../moment/numbers.ts";
import { EventName, eventName } from "../../names/event-name.tsx";
import { useNames } from "../../names/names.ts";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./dead-letters-page.module.css";
import { ExportMenu } from "./export-menu.tsx";
import { PurgeDialog } from "./purge-dialog.tsx";
import { SelectedActions } from "./selected-actions.tsx";

/** The topic of a dead letter's partition and offset. */
const TOPIC = "posthaste.dead-letters";

type DeadLetterFact = DeadLetterPage["data"][number];
type Query = Operations["GET /v1/dead-letters"]["query"];

export function DeadLettersListPage() {
  const filter = useSearch({ from: "/dead-letters/letters" });
  const nameOf = useNames();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  // A replay leaves out by itself dead letters that are open no more.
  const { open: _open, ...deadLetters } = filter;
  return (
    <>
      <PageTitle>Dead letters</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Dead letters</h1>
        <a href="/dead-letters">All groups</a>
        <ExportMenu filter={filter} />
        <PurgePart filter={filter} />
        <ActionLink look="primary" href={reviewOf(deadLetters)}>
          Review and replay
        </ActionLink>
      </div>
      <FilterBar fields={LISTED_FILTERS} filter={filter} />
      <Copied what="command" text={commandOf(filter)} />
      <PagedList
        queryKey={["GET /v1/dead-letters", filter]}
        read={({ signal, ...page }) =>
          // Control reports values of the address that do not fit.
          call("GET /v1/dead-letters", { query: { ...(filter as Query), ...page }, signal })
        }
        what="dead letters"
        isNamed
        idOf={({ place }) => place}
        textOf={({ type, event, messageId }) => `${eventName({ type, event })} ${messageId}`}
        linkOf={({ messageId }) => `/events/${encodeURIComponent(messageId)}`}
        copyOf={({ messageId }) => messageId}
        columns={columnsOf(nameOf)}
        className={styles["deadLetters"]}
        live={{ topics: ["dead-letters"], filter: liveFilterOf(filter) }}
        selection={{ chosen, onChange: setChosen }}
        actions={(letters) => (
          <SelectedActions places={letters.map(({ place }) => place)} onClear={() => setChosen(new Set())} />
        )}
        empty={<Empty action={<a href="/dead-letters">All groups</a>}>No dead letter fits the filter.</Empty>}
      />
    </>
  );
}

function PurgePart({ filter: { open, ...filter } }: { readonly filter: Filter<ListedFilterKey> }) {
  const missingScope = useMissingScope("write");
  const [isAsked, setAsked] = useState(false);
  const unnamed = Object.keys(filter).length === 0 ? "choose which first: add a filter" : null;
  const narrowed = open === undefined ? null : "a purge removes dead letters of every state: remove the filter State";
  const unavailable = missingScope ?? unnamed ?? narrowed;
  return (
    <>
      <Button unavailable={unavailable} onPress={() => setAsked(true)}>
        Purge
      </Button>
      {isAsked && <PurgeDialog filter={filter} onClose={() => setAsked(false)} />}
    </>
  );
}

/** The part of the filter that the stream knows. */
function liveFilterOf({ open: _open, since: _since, until: _until, ...known }: Filter<ListedFilterKey>): LiveFilter {
  return known as LiveFilter;
}

function columnsOf(nameOf: (id: string) => string): readonly Column<DeadLetterFact>[] {
  return [
    {
      ...{ key: "event", heading: "Event", narrow: "title", wholeOf: eventName },
      cell: ({ type, event }) => <EventName type={type} event={event} />,
    },
    { key: "user", heading: "User", narrow: "hidden", wholeOf: userOf, cell: userOf },
    {
      ...{ key: "destination", heading: "Destination", narrow: "line" },
      wholeOf: ({ destinationId }) => nameOf(destinationId),
      cell: ({ destinationId }) => nameOf(destinationId),
    },
    {
      ...{ key: "reason", heading: "Reason", narrow: "line", wholeOf: reasonOf },
      cell: (deadLetter) => <Reason deadLetter={deadLetter} />,
    },
    { key: "time", heading: "Failed", narrow: "side", cell: ({ time }) => <Ago at={time} /> },
    {
      ...{ key: "id", heading: "Message ID", narrow: "hidden" },
      cell: ({ messageId }) => <CopiedId what="message id" id={messageId} />,
    },
    {
      ...{ key: "actions", heading: "Actions", isHeadingHeard: true, isActions: true, narrow: "line" },
      cell: ({ place }) => <PlaceButton place={place} />,
    },
  ];
}

function userOf({ userKey }: DeadLetterFact): string {
  return userKey ?? "";
}

function reasonOf({ reason, lastAttempt: [first], attempts }: DeadLetterFact): string {
  const answer = first?.status ?? first?.error ?? null;
  return `${reasonWords(reason)}${answer === null ? "" : ` ${answer}`}, ${numbered(attempts, "attempt")}`;
}

function Reason({ deadLetter }: { readonly deadLetter: DeadLetterFact }) {
  const { reason, state } = deadLetter;
  const isOpen = state === "open" && reason !== "suppressed";
  const words = reasonWords(reason);
  return (
    <>
      <Mark tone={isOpen ? "bad" : "off"}>{words}</Mark>
      <span className={styles["detail"]}>{reasonOf(deadLetter).slice(words.length)}</span>{" "}
      {state === "deliveredSince" && <Mark tone="good">delivered since</Mark>}
      {state === "diedAgain" && <Mark tone="off">failed again</Mark>}
    </>
  );
}

/** Kafka's place of a dead letter, for the terminal. */
function PlaceButton({ place }: { readonly place: string }) {
  return (
    <DialogTrigger>
      <Button look="quiet" aria-label={`Place of ${place}`}>
        Place
      </Button>
      <Popover className={menus["popover"] ?? ""} placement="bottom end">
        <AriaDialog aria-label="Place in Kafka" className={styles["place"] ?? ""}>
          <p>
            Topic <code>{TOPIC}</code>, partition and offset <code>{place}</code>
          </p>
          <Copied what={`command that shows ${place}`} text={`posthaste dead-letters show ${place}`} />
        </AriaDialog>
      </Popover>
    </DialogTrigger>
  );
}
