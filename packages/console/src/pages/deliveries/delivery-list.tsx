/** Deliveries, each once, newest first: an event at a destination, with how it stands. */
import { type ReactNode, useState } from "react";
import type { LatestDeliveryPage, Operations, ResendInput } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { CopiedId } from "../../elements/copied.tsx";
import type { Column } from "../../listing/column.ts";
import type { Filter } from "../../listing/filter.ts";
import { PagedList } from "../../listing/paged-list.tsx";
import type { LiveFilter } from "../../live/live-stream.ts";
import { Ago } from "../../moment/moment-text.tsx";
import { EventName, eventName } from "../../names/event-name.tsx";
import { useNames } from "../../names/names.ts";
import { ResendRow } from "../../resend/resend-button.tsx";
import { ResendSelected } from "../../resend/resend-selected.tsx";
import type { Tone } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import { type DeliveryFilterKey, STATES } from "./delivery-filter.ts";
import styles from "./delivery-list.module.css";

type Delivery = LatestDeliveryPage["data"][number];
type Query = Operations["GET /v1/deliveries/latest"]["query"];

const TONES: Readonly<Record<Delivery["state"], Tone>> = {
  delivered: "good",
  waiting_retry: "waiting",
  deferred: "waiting",
  dead_letter: "bad",
  suppressed: "off",
  other: "off",
};

export interface DeliveryListProps {
  readonly filter: Filter<DeliveryFilterKey>;
  readonly empty: ReactNode;
}

export function DeliveryList({ filter, empty }: DeliveryListProps) {
  const nameOf = useNames();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  return (
    <PagedList
      queryKey={["GET /v1/deliveries/latest", filter]}
      read={({ signal, ...page }) =>
        // Control reports values of the address that do not fit.
        call("GET /v1/deliveries/latest", { query: { ...(filter as Query), ...page }, signal })
      }
      what="deliveries"
      isNamed
      idOf={({ messageId, destinationId, replayId, origin }) =>
        JSON.stringify([messageId, destinationId, replayId, origin])
      }
      textOf={({ type, event, state, messageId }) => `${eventName({ type, event })} ${wordsOf(state)} ${messageId}`}
      linkOf={({ messageId }) => `/events/${encodeURIComponent(messageId)}`}
      copyOf={({ messageId }) => messageId}
      columns={columnsOf(nameOf)}
      className={styles["deliveries"]}
      live={{ topics: ["deliveries", "dead-letters"], filter: liveFilterOf(filter) }}
      empty={empty}
      selection={{ chosen, onChange: setChosen }}
      actions={(deliveries) => (
        <ResendSelected deliveries={deliveries.map(resendOf)} onClear={() => setChosen(new Set())} />
      )}
    />
  );
}

function resendOf({ messageId, destinationId, sourceId }: Delivery): ResendInput {
  return { messageId, destinationId, sourceId };
}

/** The part of the filter that the stream knows; the list knows all of it. */
function liveFilterOf({
  state: _state,
  since: _since,
  until: _until,
  ...known
}: Filter<DeliveryFilterKey>): LiveFilter {
  return known as LiveFilter;
}

function wordsOf(state: Delivery["state"]): string {
  return STATES.find(([known]) => known === state)?.[1] ?? state;
}

/**
 * The answers to each try, oldest first: `503,503,timeout`, the answers of several URLs with a plus between. Nothing
 * for a delivery that succeeded at once.
 */
function answersOf({ state, attempts, answers, earlier }: Delivery): string {
  if (state === "delivered" && attempts <= 1) return "";
  return [...(earlier > 0 ? ["…"] : []), ...answers.map(({ urls }) => urls.join("+"))].join(",");
}

/** A delivery sent by hand with the name of its sender, where the audit knows it. */
function sentWords({ replayId, sentBy }: Delivery): string {
  if (replayId?.startsWith("rsd_") !== true) return "of a replay";
  return `sent by hand, by ${sentBy ?? "whom the audit does not know"}`;
}

function columnsOf(nameOf: (id: string) => string): readonly Column<Delivery>[] {
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
      ...{ key: "state", heading: "State", narrow: "line", wholeOf: wholeState },
      cell: (delivery) => <State delivery={delivery} />,
    },
    { key: "time", heading: "Updated", narrow: "side", cell: ({ time }) => <Ago at={time} /> },
    {
      ...{ key: "id", heading: "Message ID", narrow: "hidden" },
      cell: ({ messageId }) => <CopiedId what="message id" id={messageId} />,
    },
    {
      ...{ key: "actions", heading: "Actions", isHeadingHeard: true, isActions: true, narrow: "line" },
      cell: (delivery) => (
        <ResendRow
          delivery={resendOf(delivery)}
          to={nameOf(delivery.destinationId)}
          isFailed={delivery.state === "dead_letter"}
          unavailable={delivery.state === "suppressed" ? "a deletion request stopped the user's events" : null}
        />
      ),
    },
  ];
}

function userOf({ userKey }: Delivery): string {
  return userKey ?? "";
}

/** All of it in words: the line of a row may be too short. */
function wholeState(delivery: Delivery): string {
  return [wordsOf(delivery.state), answersOf(delivery), detailOf(delivery)].filter((each) => each !== "").join(", ");
}

function detailOf(delivery: Delivery): string {
  const { attempts, replayId } = delivery;
  return [...(attempts > 1 ? [`${attempts} attempts`] : []), ...(replayId === null ? [] : [sentWords(delivery)])].join(
    ", ",
  );
}

function State({ delivery }: { readonly delivery: Delivery }) {
  const { state, due } = delivery;
  const [answers, detail] = [answersOf(delivery), detailOf(delivery)];
  return (
    <>
      <Mark tone={TONES[state]}>{wordsOf(state)}</Mark>
      <span className={styles["detail"]}>
        {answers !== "" && (
          <>
            {" "}
            <code>{answers}</code>
          </>
        )}
        {due !== null && (
          <>
            {" next "}
            <Ago at={due} />
          </>
        )}
        {detail !== "" && `, ${detail}`}
      </span>
    </>
  );
}
