/** The dead letters of a group, newest first, each with its place in the topic. */
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { DeadLetterPage, Operations } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { commandOf, LISTED_FILTERS, type ListedFilterKey } from "../../dead-letters/dead-letter-filter.ts";
import { reviewOf } from "../../dead-letters/replay-filter.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { Button } from "../../elements/button.tsx";
import { Copied, CopyButton } from "../../elements/copied.tsx";
import elements from "../../elements/elements.module.css";
import type { Filter } from "../../listing/filter.ts";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import type { LiveFilter } from "../../live/live-stream.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { useNames } from "../../names/names.ts";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./dead-letters-page.module.css";
import { PurgeDialog } from "./purge-dialog.tsx";

/** The topic of a dead letter's partition and offset. */
const TOPIC = "posthaste.dead-letters";

type DeadLetterFact = DeadLetterPage["data"][number];
type Query = Operations["GET /v1/dead-letters"]["query"];

export function DeadLettersListPage() {
  const filter = useSearch({ from: "/dead-letters/letters" });
  const nameOf = useNames();
  // A replay leaves out by itself dead letters that are open no more.
  const { open: _open, ...deadLetters } = filter;
  return (
    <>
      <PageTitle>Letters</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Letters</h1>
        <a href="/dead-letters">All groups</a>
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
        what="letters"
        isNamed
        idOf={({ place }) => place}
        textOf={({ type, event, messageId }) => `${type} ${event ?? ""} ${messageId}`}
        linkOf={({ messageId }) => `/events/${encodeURIComponent(messageId)}`}
        copyOf={({ messageId }) => messageId}
        rowClass={styles["deadLetter"]}
        live={{ topics: ["dead-letters"], filter: liveFilterOf(filter) }}
        empty={<Empty action={<a href="/dead-letters">All groups</a>}>No dead letter fits the filter.</Empty>}
      >
        {(deadLetter) => <DeadLetterRow deadLetter={deadLetter} name={nameOf(deadLetter.destinationId)} />}
      </PagedList>
    </>
  );
}

function PurgePart({ filter: { open, ...filter } }: { readonly filter: Filter<ListedFilterKey> }) {
  const missingScope = useMissingScope("write");
  const [isAsked, setAsked] = useState(false);
  const unnamed = Object.keys(filter).length === 0 ? "say which: filter them first" : null;
  const narrowed = open === undefined ? null : "a purge is of letters of every state: take State away";
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

function DeadLetterRow({ deadLetter, name }: { readonly deadLetter: DeadLetterFact; readonly name: string }) {
  const { time, type, event, reason, lastAttempt, place, messageId, attempts, state } = deadLetter;
  const [first] = lastAttempt;
  const answered = first?.status ?? first?.error ?? "";
  return (
    <>
      <MomentText at={time} withDistance />
      <span>
        {type} {event} → {name}
      </span>
      <span>
        <Mark tone="bad">{reason.replaceAll("_", " ")}</Mark> {answered}, {attempts} attempt{attempts === 1 ? "" : "s"}{" "}
        {state === "deliveredSince" && <Mark tone="good">delivered since</Mark>}
        {state === "diedAgain" && <Mark tone="off">died again</Mark>}
      </span>
      <span className={styles["detail"]}>
        <code>{messageId}</code> at <code>{TOPIC}</code>{" "}
        <span className={styles["place"]}>
          <code>{place}</code>
          <CopyButton what={`command that shows ${place}`} text={`posthaste dead-letters show ${place}`} />
        </span>
      </span>
    </>
  );
}
