/** The dead letters of a group, newest first, each with its place in the topic. */
import { useSearch } from "@tanstack/react-router";
import type { DeadLetterPage, Operations } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Copied } from "../../elements/copied.tsx";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { useNames } from "../../names/names.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./dead-letters-page.module.css";
import { commandOf, LETTER_FILTERS } from "./letter-filter.ts";

type Letter = DeadLetterPage["data"][number];
type Query = Operations["GET /v1/dead-letters"]["query"];

export function LettersPage() {
  const filter = useSearch({ from: "/dead-letters/letters" });
  const nameOf = useNames();
  return (
    <>
      <title>Letters · Posthaste</title>
      <h1>Letters</h1>
      <p>
        <a href="/dead-letters">All groups</a>
      </p>
      <FilterBar fields={LETTER_FILTERS} filter={filter} />
      <Copied what="command" text={commandOf(filter)} />
      <PagedList
        queryKey={["GET /v1/dead-letters", filter]}
        read={({ signal, ...page }) =>
          // What stands in the address is told by control where it does not fit.
          call("GET /v1/dead-letters", { query: { ...(filter as Query), ...page }, signal })
        }
        what="letters"
        idOf={({ place }) => place}
        textOf={({ type, event, messageId }) => `${type} ${event ?? ""} ${messageId}`}
        linkOf={({ messageId }) => `/events/${encodeURIComponent(messageId)}`}
        rowClass={styles["letter"]}
        empty={<Empty action={<a href="/dead-letters">All groups</a>}>No dead letter fits the filter.</Empty>}
      >
        {(letter) => <LetterRow letter={letter} name={nameOf(letter.destinationId)} />}
      </PagedList>
    </>
  );
}

function LetterRow({ letter, name }: { readonly letter: Letter; readonly name: string }) {
  const { time, type, event, reason, lastAttempt, place, messageId, attempts } = letter;
  const [first] = lastAttempt;
  return (
    <>
      <MomentText at={time} withDistance />
      <span>
        {type} {event} → {name}
      </span>
      <span>
        <Mark tone="bad">{reason.replaceAll("_", " ")}</Mark> {first?.status ?? first?.error ?? ""}, {attempts} attempts
      </span>
      <span className={styles["detail"]}>
        <code>{messageId}</code> at <code>{place}</code>
      </span>
    </>
  );
}
