/** Every delivery once: an event at a destination, with how it stands. */
import { useSearch } from "@tanstack/react-router";
import type { LatestDeliveryPage, Operations } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { useNames } from "../../names/names.ts";
import type { Tone } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./deliveries-page.module.css";
import { DELIVERY_FILTERS, STATES } from "./delivery-filter.ts";

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

export function DeliveriesPage() {
  const filter = useSearch({ from: "/deliveries" });
  const nameOf = useNames();
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <title>Deliveries · Posthaste</title>
      <h1>Deliveries</h1>
      <FilterBar fields={DELIVERY_FILTERS} filter={filter} />
      <PagedList
        queryKey={["GET /v1/deliveries/latest", filter]}
        read={({ signal, ...page }) =>
          // What stands in the address is told by control where it does not fit.
          call("GET /v1/deliveries/latest", { query: { ...(filter as Query), ...page }, signal })
        }
        what="deliveries"
        idOf={({ messageId, destinationId, replayId, origin }) =>
          JSON.stringify([messageId, destinationId, replayId, origin])
        }
        textOf={({ type, event, state, messageId }) => `${type} ${event ?? ""} ${wordsOf(state)} ${messageId}`}
        linkOf={({ messageId }) => `/events/${encodeURIComponent(messageId)}`}
        rowClass={styles["delivery"]}
        empty={
          isFiltered ? (
            <Empty action={<a href="/deliveries">Show all</a>}>No delivery fits the filter.</Empty>
          ) : (
            <Empty command="posthaste send --help">
              Nothing was delivered yet: an event of a source with a destination stands here a second after it came.
            </Empty>
          )
        }
      >
        {(delivery) => <DeliveryRow delivery={delivery} nameOf={nameOf} />}
      </PagedList>
    </>
  );
}

function wordsOf(state: Delivery["state"]): string {
  return STATES.find(([known]) => known === state)?.[1] ?? state;
}

interface DeliveryRowProps {
  readonly delivery: Delivery;
  readonly nameOf: (id: string) => string;
}

function DeliveryRow({ delivery, nameOf }: DeliveryRowProps) {
  const { time, type, event, destinationId, state, attempts, due, error, messageId } = delivery;
  return (
    <>
      <MomentText at={time} />
      <span className={styles["what"]}>
        {type} {event}
      </span>
      <span className={styles["where"]}>{nameOf(destinationId)}</span>
      <span>
        <Mark tone={TONES[state]}>{wordsOf(state)}</Mark>
        <span className={styles["detail"]}>
          {error !== null && ` ${error}`}
          {attempts > 1 && `, ${attempts} attempts`}
          {due !== null && (
            <>
              , next <MomentText at={due} withDistance />
            </>
          )}
        </span>
      </span>
      <code className={styles["id"]}>{messageId}</code>
    </>
  );
}
