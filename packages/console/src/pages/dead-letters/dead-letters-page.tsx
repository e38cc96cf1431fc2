/** Deliveries given up, by destination, reason and error, the largest group first, with the remedy. */
import { type UseInfiniteQueryResult, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { Operations } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { DEAD_LETTER_FILTERS, type DeadLetterFilterKey } from "../../dead-letters/dead-letter-filter.ts";
import { reasonWords } from "../../dead-letters/reason-words.ts";
import { Button } from "../../elements/button.tsx";
import elements from "../../elements/elements.module.css";
import { type Filter, searchOf } from "../../listing/filter.ts";
import { FilterBar } from "../../listing/filter-bar.tsx";
import { Freshness } from "../../listing/freshness.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { Table } from "../../listing/table.tsx";
import { usePausable } from "../../live/live.ts";
import { countOf, numbered } from "../../moment/numbers.ts";
import { useNames } from "../../names/names.ts";
import { readHealth } from "../../status/health-of.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { filterOf, type Group, groupsOf, isSuppressed, keyOf } from "./dead-letter-groups.ts";
import styles from "./dead-letters-page.module.css";
import { groupColumns } from "./group-columns.tsx";
import { UnreadablePart } from "./unreadable-part.tsx";

type Query = Operations["GET /v1/dead-letters/groups"]["query"];

/** How often the groups are counted anew. */
const AGAIN_MS = 15_000;

/** Groups on the page at first, and those that each "more" adds: a thousand failing destinations have thousands. */
const PAGE = 50;

/** More make a browser slow, and each is counted anew with the rest. */
const MOST_GROUPS = 200;

export function DeadLettersPage() {
  const filter = useSearch({ from: "/dead-letters" });
  const query = useGroups(filter);
  const nameOf = useNames();
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <PageTitle>Dead letters</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Dead letters</h1>
        <a href={`/dead-letters/letters${searchOf(filter)}`}>As a list</a>
      </div>
      <FilterBar fields={DEAD_LETTER_FILTERS} filter={filter} />
      <Loaded
        query={query}
        what="dead letters"
        isNamed
        isEmpty={({ pages }) => groupsOf(pages).length === 0}
        empty={
          isFiltered ? (
            <Empty action={<a href="/dead-letters">Show all</a>}>No dead letter fits the filter.</Empty>
          ) : (
            <Empty command="posthaste dead-letters list">No delivery has failed for good.</Empty>
          )
        }
      >
        {({ pages }) => (
          <div data-state="live">
            <Total groups={groupsOf(pages)} isWhole={!query.hasNextPage} />
            <Freshness asOf={pages[0]?.asOf ?? null} complete={pages[0]?.complete ?? true} />
            <Table
              what="dead letters"
              rows={groupsOf(pages)}
              columns={groupColumns(nameOf)}
              className={styles["groups"]}
              idOf={keyOf}
              textOf={({ destinationId, reason, error }) =>
                `${nameOf(destinationId)} ${reasonWords(reason)} ${error ?? ""}`
              }
              linkOf={(group) => `/dead-letters/letters${searchOf({ ...filter, ...filterOf(group) })}`}
            />
            {query.hasNextPage && <More query={query} shown={groupsOf(pages).length} all={pages[0]?.groups ?? 0} />}
          </div>
        )}
      </Loaded>
      <UnreadablePart />
    </>
  );
}

function useGroups(filter: Filter<DeadLetterFilterKey>) {
  const client = useQueryClient();
  return useInfiniteQuery({
    queryKey: ["GET /v1/dead-letters/groups", "so far", filter],
    queryFn: async ({ pageParam: cursor, signal }) => {
      // Control reports values of the address that do not fit.
      const query = { ...(filter as Query), limit: PAGE, cursor };
      const page = await call("GET /v1/dead-letters/groups", { query, signal });
      const failed = page.data.filter(({ endsWithAnswer }) => endsWithAnswer);
      const together = await readHealth(
        client,
        failed.map(({ destinationId }) => destinationId),
      );
      return { ...page, data: page.data.map((group) => ({ ...group, together })) };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: usePausable(AGAIN_MS),
    gcTime: 0,
  });
}

/** Dead letters of suppressed users are settled: nobody waits for them. */
function Total({ groups, isWhole }: { readonly groups: readonly Group[]; readonly isWhole: boolean }) {
  const sumOf = (isOf: (group: Group) => boolean): number =>
    groups.reduce((sum, group) => sum + (isOf(group) ? group.open : 0), 0);
  const [open, suppressed] = [sumOf((group) => !isSuppressed(group)), sumOf(isSuppressed)];
  return (
    <p>
      <strong>
        {isWhole ? "" : "At least "}
        {numbered(open, "dead letter")}
      </strong>{" "}
      can be sent again{suppressed > 0 && `; ${countOf(suppressed)} of suppressed users cannot`}.
    </p>
  );
}

interface MoreProps {
  readonly query: Pick<UseInfiniteQueryResult, "fetchNextPage" | "isFetchingNextPage">;
  readonly shown: number;
  readonly all: number;
}

function More({ query, shown, all }: MoreProps) {
  const left = Math.max(1, all - shown);
  if (shown >= MOST_GROUPS) {
    return (
      <p className={styles["detail"]}>
        {`The ${MOST_GROUPS} largest groups stand here; `}
        <code>posthaste dead-letters groups</code>
        {` has the ${countOf(left)} smaller ones too.`}
      </p>
    );
  }
  return (
    <Button onPress={() => void query.fetchNextPage()} isPending={query.isFetchingNextPage}>
      {`More: ${countOf(left)} smaller groups`}
    </Button>
  );
}
