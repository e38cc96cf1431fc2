/** Where events go, and how each is: the whole list, which is sorted and filtered on the page. */
import { useQuery } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import elements from "../../elements/elements.module.css";
import { type Filter, searchOf } from "../../listing/filter.ts";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { CopiedRow, useRowKeys } from "../../listing/row-keys.tsx";
import { Table } from "../../listing/table.tsx";
import { usePausable } from "../../live/live.ts";
import { allDestinations, useSourceNaming } from "../../names/names.ts";
import { ConnectLink } from "../../session/connect-link.tsx";
import { allHealth } from "../../status/health-of.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { columnsOf } from "./destination-columns.tsx";
import { type DestinationRow, fitting, orderFrom, sorted, sortOf, stateCounts } from "./destination-rows.ts";
import { DESTINATIONS_FILTERS, type DestinationsFilterKey, type SortKey } from "./destinations-filter.ts";
import styles from "./destinations-page.module.css";

/** How often the destinations and their health are read. */
const [LIST_MS, HEALTH_MS] = [15_000, 5000];

export function DestinationsPage() {
  const { sort, ...filter } = useSearch({ from: "/destinations" });
  const query = useQuery({ ...allDestinations, refetchInterval: usePausable(LIST_MS) });
  const health = useQuery({ ...allHealth, refetchInterval: usePausable(HEALTH_MS) });
  const { isSettled } = useSourceNaming();
  const rows = useMemo(
    () => (query.data ?? []).map((destination) => ({ destination, health: health.data?.get(destination.id) })),
    [query.data, health.data],
  );
  const counts = useMemo(() => ({ state: stateCounts(rows) }), [rows]);
  return (
    <>
      <PageTitle>Destinations</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Destinations</h1>
        <ConnectLink look="primary" />
      </div>
      <Loaded
        query={query}
        what="destinations"
        isAwaited={!isSettled || health.isPending}
        isEmpty={(all) => all.length === 0}
        empty={
          <Empty action={<ConnectLink look="primary" />} command="posthaste destinations create --help">
            There is no destination yet: a webhook that gets the events of your sources.
          </Empty>
        }
      >
        {() => (
          <div data-state="live">
            <FilterBar
              fields={DESTINATIONS_FILTERS}
              filter={filter}
              counts={counts}
              {...(sort === undefined ? {} : { kept: { sort } })}
            />
            <DestinationTable rows={rows} sort={sort} filter={filter} />
          </div>
        )}
      </Loaded>
    </>
  );
}

interface DestinationTableProps {
  readonly rows: readonly DestinationRow[];
  readonly filter: Filter<DestinationsFilterKey>;
  readonly sort: string | undefined;
}

const idOf = ({ destination: { id } }: DestinationRow): string => id;

function DestinationTable({ rows, filter, sort }: DestinationTableProps) {
  const router = useRouter();
  const { nameOf } = useSourceNaming();
  const order = orderFrom(sort);
  const shown = sorted(fitting(rows, filter), order);
  const copied = useRowKeys({ idOf, copyOf: idOf }, shown);
  if (shown.length === 0) {
    return <Empty action={<a href="/destinations">Show all</a>}>No destination fits the filter.</Empty>;
  }
  return (
    <>
      <CopiedRow copied={copied} />
      <Table
        what="destinations"
        rows={shown}
        columns={columnsOf(nameOf)}
        className={styles["destinations"]}
        idOf={idOf}
        textOf={({ destination: { name, enabled } }) => `${name} ${enabled ? "on" : "off"}`}
        linkOf={({ destination: { id } }) => `/destinations/${id}`}
        sorting={{
          ...order,
          onChange: (key, direction) => {
            const next = sortOf({ key: key as SortKey, direction });
            const search = searchOf({ ...filter, ...(next === undefined ? {} : { sort: next }) });
            router.history.replace(`${router.state.location.pathname}${search}`);
          },
        }}
      />
    </>
  );
}
