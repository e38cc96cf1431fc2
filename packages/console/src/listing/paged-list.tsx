/**
 * A list that is read in pages, newest first.
 *
 * QL1  Nothing moves under the reader: what came since waits behind a button that says how much it is, and a row that
 *      stands there is told anew in its place. A stream says that something came; what it is is read.
 * QL2  "More" goes on with the filter that the first page was read with.
 * QL3  Where a search ended early it says how far it came, and "more" goes on from there.
 */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { GridList, GridListItem } from "react-aria-components";
import { Button } from "../elements/button.tsx";
import { copyText } from "../elements/clipboard.ts";
import { usePageKey } from "../keys/page-keys.ts";
import { focusedRowKey } from "../keys/rows.ts";
import { useCalm } from "../live/calm.ts";
import { useLive, useLiveState } from "../live/live.ts";
import type { LiveListener } from "../live/live-stream.ts";
import { useThrottled } from "../live/throttled.ts";
import { MomentText } from "../moment/moment-text.tsx";
import { Freshness, SHOWN_PAGES } from "./freshness.tsx";
import styles from "./listing.module.css";
import { Loaded } from "./loaded.tsx";

const PAGE = 50;
/** How often it is looked whether something came that no stream says. */
const LOOK_MS = 5000;
/** How long it says that something was copied. */
const COPIED_MS = 1500;
/** However much a stream says. */
const LEAST_BETWEEN_MS = 1000;

export interface ListPage<Row> {
  readonly data: readonly Row[];
  readonly nextCursor: string | null;
  readonly asOf: string | null;
  readonly complete: boolean;
  readonly searchedTo?: string | null;
}

export interface PagedListProps<Row> {
  /** Names what is read, with its filter. */
  readonly queryKey: readonly unknown[];
  readonly read: (page: {
    readonly limit: number;
    readonly cursor: string | undefined;
    readonly signal: AbortSignal;
  }) => Promise<ListPage<Row>>;
  /** For who hears it: "deliveries". */
  readonly what: string;
  readonly idOf: (row: Row) => string;
  /** In words, for who hears the row. */
  readonly textOf: (row: Row) => string;
  /** Where Enter leads; null for a row that leads nowhere. */
  readonly linkOf?: (row: Row) => string | null;
  readonly empty: ReactNode;
  readonly rowClass: string | undefined;
  /** The id that a key copies of the row that has the focus. */
  readonly copyOf?: (row: Row) => string;
  /** What the key `r` does with the row that has the focus. */
  readonly onSendAgain?: (row: Row) => void;
  /** What its rows come by, where the stream has them. */
  readonly live?: Pick<LiveListener, "topics" | "filter">;
  /** How often it is looked whether something came, where that is not every five seconds. */
  readonly lookMs?: number;
  /** See LoadedProps. */
  readonly isNamed?: boolean;
  /** See LoadedProps. */
  readonly isAwaited?: boolean;
  readonly children: (row: Row) => ReactNode;
}

export function PagedList<Row>(props: PagedListProps<Row>) {
  const { queryKey, read, what, idOf, textOf, linkOf, empty, rowClass, live, lookMs = LOOK_MS, children } = props;
  const { isNamed = false, isAwaited = false } = props;
  const query = useInfiniteQuery({
    queryKey: [...queryKey, SHOWN_PAGES],
    queryFn: ({ pageParam, signal }) => read({ limit: PAGE, cursor: pageParam, signal }),
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
  const anew = new Map(newest.data?.data.map((row) => [idOf(row), row]));
  const shown = (query.data?.pages.flatMap(({ data }) => data) ?? []).map((row) => anew.get(idOf(row)) ?? row);
  const known = new Set(shown.map(idOf));
  const came = newest.data?.data.filter((row) => !known.has(idOf(row))).length ?? 0;
  const last = query.data?.pages.at(-1);
  const { isComplete, mayLack } = wholeness(query.data?.pages ?? [], newest.data);
  const copied = useRowKeys(props, shown);
  const cameWords = useCalm(came > 0 ? `${countWords(came)} new ${what}` : "");
  return (
    <Loaded
      query={query}
      what={what}
      isNamed={isNamed}
      isAwaited={isAwaited}
      isEmpty={() => shown.length === 0 && came === 0 && last?.nextCursor === null}
      empty={empty}
    >
      {() => (
        <div data-state="live" className={styles["list"]}>
          <div className={styles["head"]}>
            <Freshness asOf={newest.data?.asOf ?? last?.asOf ?? null} complete={isComplete} />
            <span className={styles["heard"]} role="status">
              {cameWords}
            </span>
            <span>
              <span role="status">
                {copied !== null && (
                  <>
                    copied <code>{copied}</code>{" "}
                  </>
                )}
              </span>
              <ReadAnew came={came} mayLack={mayLack} onPress={() => void query.refetch()} />
            </span>
          </div>
          <GridList
            aria-label={what}
            items={shown.map((row) => ({ id: idOf(row), row }))}
            className={styles["rows"] ?? ""}
          >
            {({ id, row }) => {
              const href = linkOf?.(row) ?? null;
              return (
                <GridListItem
                  id={id}
                  textValue={textOf(row)}
                  className={styles["row"] ?? ""}
                  {...(href === null ? {} : { href, routerOptions: { isRow: true } })}
                >
                  <div className={rowClass}>{children(row)}</div>
                </GridListItem>
              );
            }}
          </GridList>
          {query.hasNextPage && (
            <div className={styles["more"]}>
              {last?.searchedTo !== undefined && last.searchedTo !== null && (
                <span className={styles["small"]}>
                  searched to <MomentText at={last.searchedTo} />
                </span>
              )}
              <Button onPress={() => void query.fetchNextPage()} isPending={query.isFetchingNextPage}>
                {last?.searchedTo ? "Go on" : "More"}
              </Button>
            </div>
          )}
        </div>
      )}
    </Loaded>
  );
}

/**
 * Whether control had read all of it, and else whether it has since: what a list of one page lacked then is what came;
 * of more pages it may stand anywhere.
 */
function wholeness(pages: readonly ListPage<unknown>[], newest: ListPage<unknown> | undefined) {
  const wasComplete = pages.every(({ complete }) => complete);
  const isComplete = newest?.complete ?? wasComplete;
  return { isComplete, mayLack: isComplete && !wasComplete && pages.length > 1 };
}

interface ReadAnewProps {
  /** Rows that wait. */
  readonly came: number;
  readonly mayLack: boolean;
  readonly onPress: () => void;
}

/** QL1. */
function ReadAnew({ came, mayLack, onPress }: ReadAnewProps) {
  if (came === 0) return mayLack ? <Button onPress={onPress}>Read again</Button> : null;
  return (
    <span className={styles["came"]}>
      <Button onPress={onPress}>{countWords(came)} new</Button>
    </span>
  );
}

/** As many as one look has are those, or more. */
function countWords(came: number): string {
  return came === PAGE ? `${PAGE} and more` : String(came);
}

/** Answers what was copied a moment ago. */
function useRowKeys<Row>(props: PagedListProps<Row>, shown: readonly Row[]): string | null {
  const { idOf, copyOf, onSendAgain } = props;
  const [copied, setCopied] = useState<string | null>(null);
  const focused = (): Row | undefined => shown.find((row) => idOf(row) === focusedRowKey());
  const copy = async (): Promise<void> => {
    const row = focused();
    if (row === undefined || copyOf === undefined) return;
    if (!(await copyText(copyOf(row)))) return;
    setCopied(copyOf(row));
    setTimeout(() => setCopied(null), COPIED_MS);
  };
  const sendAgain = (): void => {
    const row = focused();
    if (row !== undefined) onSendAgain?.(row);
  };
  usePageKey("c", copyOf === undefined ? null : () => void copy());
  usePageKey("r", onSendAgain === undefined ? null : sendAgain);
  return copied;
}
