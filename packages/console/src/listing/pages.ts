/** The pages of a list that stand on it, and newer rows (QL1 to QL4 of paged-list.tsx). */
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { useLive, useLiveState } from "../live/live.ts";
import type { LiveListener } from "../live/live-stream.ts";
import { useThrottled } from "../live/throttled.ts";
import { SHOWN_PAGES } from "./freshness.tsx";

export const PAGE = 50;
/** Of a page that is asked for by hand. */
const LATER_PAGE = 200;
/** Up to so many pages are read anew as they stand; of more, the first alone. */
const MOST_READ_ANEW = 4;
/** How often it is looked whether something came that no stream says. */
const LOOK_MS = 5000;
/** However much a stream says. */
const LEAST_BETWEEN_MS = 1000;

export interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly nextCursor: string | null;
  readonly asOf: string | null;
  readonly complete: boolean;
  readonly searchedTo?: string | null;
}

export interface PagesProps<Row> {
  /** Names the data, with its filter. */
  readonly queryKey: readonly unknown[];
  readonly read: (page: {
    readonly limit: number;
    readonly cursor: string | undefined;
    readonly signal: AbortSignal;
  }) => Promise<ListPage<Row>>;
  readonly idOf: (row: Row) => string;
  /** The stream's topics of its rows, where there are any. */
  readonly live?: Pick<LiveListener, "topics" | "filter">;
  /** How often it is looked whether something came, where that is not every five seconds. */
  readonly lookMs?: number;
}

export function usePages<Row>({ queryKey, read, idOf, live, lookMs = LOOK_MS }: PagesProps<Row>) {
  const client = useQueryClient();
  const shownKey = [...queryKey, SHOWN_PAGES];
  const query = useInfiniteQuery({
    queryKey: shownKey,
    queryFn: ({ pageParam, signal }) =>
      read({ limit: pageParam === undefined ? PAGE : LATER_PAGE, cursor: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const { state } = useLiveState();
  const newest = useQuery({
    queryKey: [...queryKey, "newest"],
    queryFn: ({ signal }) => read({ limit: PAGE, cursor: undefined, signal }),
    enabled: query.isSuccess,
    refetchInterval: state === "paused" ? false : lookMs,
    gcTime: 0,
  });
  const look = useThrottled(() => newest.refetch(), LEAST_BETWEEN_MS);
  useLive(live === undefined ? null : { ...live, onRows: look, onGap: look });
  const pages = query.data?.pages ?? [];
  const { shown, ids } = useShown(query.data?.pages, newest.data, idOf);
  const seen = useMemo(() => new Set(ids), [ids]);
  const last = pages.at(-1);
  return {
    query,
    shown,
    came: newest.data?.data.filter((row) => !seen.has(idOf(row))).length ?? 0,
    last,
    asOf: newest.data?.asOf ?? last?.asOf ?? null,
    ...wholeness(pages, newest.data),
    failure: newest.error,
    readAnew: () =>
      void (pages.length > MOST_READ_ANEW ? client.resetQueries({ queryKey: shownKey, exact: true }) : query.refetch()),
  };
}

/** The rows of all pages, each as it was read last. */
function useShown<Row>(
  pages: readonly ListPage<Row>[] | undefined,
  newest: ListPage<Row> | undefined,
  idOf: (row: Row) => string,
): { readonly shown: readonly Row[]; readonly ids: readonly string[] } {
  const named = useRef(idOf);
  named.current = idOf;
  return useMemo(() => {
    const anew = new Map(newest?.data.map((row) => [named.current(row), row]));
    const read = (pages ?? []).flatMap(({ data }) => data);
    const ids = read.map((row) => named.current(row));
    return { shown: read.map((row, at) => anew.get(ids[at] ?? "") ?? row), ids };
  }, [pages, newest]);
}

/**
 * Whether control had read all of it, and else whether it has since: the rows that a list of one page lacked then are
 * the new ones; of more pages they may stand anywhere.
 */
function wholeness(pages: readonly ListPage<unknown>[], newest: ListPage<unknown> | undefined) {
  const wasComplete = pages.every(({ complete }) => complete);
  const isComplete = newest?.complete ?? wasComplete;
  return { isComplete, mayLack: isComplete && !wasComplete && pages.length > 1 };
}
