/** Changes with their author, old and new values, and the client that asked. */
import { useSearch } from "@tanstack/react-router";
import { ChangeList } from "../../audit/change-list.tsx";
import elements from "../../elements/elements.module.css";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Empty } from "../../listing/loaded.tsx";
import { PageTitle } from "../../status/page-title.tsx";
import { ACTIVITY_FILTERS } from "./activity-filter.ts";

export function ActivityPage() {
  const filter = useSearch({ from: "/activity" });
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <PageTitle>Activity</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Activity</h1>
      </div>
      <FilterBar fields={ACTIVITY_FILTERS} filter={filter} />
      <ChangeList
        filter={filter}
        empty={
          isFiltered ? (
            <Empty action={<a href="/activity">Show all</a>}>No change fits the filter.</Empty>
          ) : (
            <Empty command="posthaste audit">Nothing was changed yet.</Empty>
          )
        }
      />
    </>
  );
}
