/** Every delivery once, narrowed by the filters in the address. */
import { useSearch } from "@tanstack/react-router";
import { ActionLink } from "../../elements/action-link.tsx";
import elements from "../../elements/elements.module.css";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Empty } from "../../listing/loaded.tsx";
import { PageTitle } from "../../status/page-title.tsx";
import { DELIVERY_FILTERS, sendAllOf } from "./delivery-filter.ts";
import { DeliveryList } from "./delivery-list.tsx";

export function DeliveriesPage() {
  const filter = useSearch({ from: "/deliveries" });
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <PageTitle>Deliveries</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Deliveries</h1>
        <ActionLink {...sendAllOf(filter)}>Send all matching again</ActionLink>
      </div>
      <FilterBar fields={DELIVERY_FILTERS} filter={filter} />
      <DeliveryList
        filter={filter}
        empty={
          isFiltered ? (
            <Empty action={<a href="/deliveries">Show all</a>}>No delivery fits the filter.</Empty>
          ) : (
            <Empty command="posthaste send --help">
              Nothing was delivered yet: an event of a source with a destination stands here a second after it came.
            </Empty>
          )
        }
      />
    </>
  );
}
