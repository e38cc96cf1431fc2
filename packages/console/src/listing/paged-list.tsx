/**
 * A list that is read in pages, newest first.
 *
 * QL1  Nothing moves under the reader: newer rows wait behind a button that says how many there are, and a changed row
 *      is told anew in its place. A stream says that something came; the rows themselves are read.
 * QL2  "More" goes on with the filter that the first page was read with.
 * QL3  Where a search ended early it says how far it came, and "more" goes on from there.
 * QL4  Once somebody asked for more, the next page is read as the end of the list comes into the window.
 */
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { Button } from "../elements/button.tsx";
import { MomentText } from "../moment/moment-text.tsx";
import type { Selection } from "./column.ts";
import { Freshness } from "./freshness.tsx";
import styles from "./listing.module.css";
import { Loaded } from "./loaded.tsx";
import { PAGE, type PagesProps, usePages } from "./pages.ts";
import { CopiedRow, useRowKeys } from "./row-keys.tsx";
import { Table, type TableProps } from "./table.tsx";

/** A screen reader is told no more often. */
const CALM_MS = 5000;

export interface PagedListProps<Row>
  extends PagesProps<Row>,
    Pick<TableProps<Row>, "what" | "columns" | "className" | "textOf" | "linkOf"> {
  readonly empty: ReactNode;
  /** The id that a key copies of the row that has the focus. */
  readonly copyOf?: (row: Row) => string;
  /** See LoadedProps. */
  readonly isNamed?: boolean;
  /** See LoadedProps. */
  readonly isAwaited?: boolean;
  readonly selection?: Selection;
  /** Acts on the selected rows; it stands above them. */
  readonly actions?: (chosen: readonly Row[]) => ReactNode;
}

export function PagedList<Row>(props: PagedListProps<Row>) {
  const { what, columns, className, idOf, textOf, linkOf, empty, isNamed = false, isAwaited = false } = props;
  const { selection, actions } = props;
  const { query, shown, came, last, asOf, isComplete, mayLack, failure, readAnew } = usePages(props);
  const copied = useRowKeys(props, shown);
  const cameWords = useCalm(came > 0 ? `${countWords(came)} new ${what}` : "");
  const chosen = selection === undefined ? [] : shown.filter((row) => selection.chosen.has(idOf(row)));
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
            {chosen.length > 0 ? actions?.(chosen) : <Freshness asOf={asOf} complete={isComplete} failure={failure} />}
            <span className={styles["heard"]} role="status">
              {cameWords}
            </span>
            <span>
              <CopiedRow copied={copied} />
              <ReadAnew came={came} mayLack={mayLack} onPress={readAnew} />
            </span>
          </div>
          <Table rows={shown} {...{ what, columns, className, idOf, textOf, linkOf, selection }} />
          {query.hasNextPage && (
            <More
              searchedTo={last?.searchedTo ?? null}
              count={shown.length}
              isReading={query.isFetchingNextPage}
              onPress={() => void query.fetchNextPage()}
            />
          )}
        </div>
      )}
    </Loaded>
  );
}

interface MoreProps {
  readonly searchedTo: string | null;
  /** The rows that stand there. */
  readonly count: number;
  readonly isReading: boolean;
  readonly onPress: () => void;
}

/** QL3, QL4. */
function More({ searchedTo, count, isReading, onPress }: MoreProps) {
  const end = useRef<HTMLDivElement>(null);
  const isSeen = useSeen(end);
  /** The rows at the last request, so that a failed one is repeated by a press alone; null until the first press. */
  const askedAt = useRef<number | null>(null);
  const read = useRef(onPress);
  read.current = onPress;
  useEffect(() => {
    if (!isSeen || isReading || askedAt.current === null || askedAt.current >= count) return;
    askedAt.current = count;
    read.current();
  }, [isSeen, isReading, count]);
  return (
    <div className={styles["more"]} ref={end}>
      {searchedTo !== null && (
        <span className={styles["small"]}>
          searched to <MomentText at={searchedTo} isShort />
        </span>
      )}
      <Button
        isPending={isReading}
        onPress={() => {
          // Each search that ended early is gone on with by hand.
          askedAt.current = searchedTo === null ? count : null;
          onPress();
        }}
      >
        {searchedTo === null ? "More" : "Go on"}
      </Button>
    </div>
  );
}

/** Whether an element is in the window. */
function useSeen(element: RefObject<HTMLElement | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (element.current === null || !("IntersectionObserver" in window)) return;
    const observer = new window.IntersectionObserver((entries) => setSeen(entries.at(-1)?.isIntersecting === true));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isSeen;
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
      <Button onPress={onPress}>{`${countWords(came)} new`}</Button>
    </span>
  );
}

/** As many as one look has are those, or more. */
function countWords(came: number): string {
  return came === PAGE ? `${PAGE} and more` : String(came);
}

/** The spoken text of something that may change each second: at once, then once in five seconds, the newest. */
function useCalm(text: string): string {
  const [reported, setReported] = useState(text);
  const reportedAtMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (text === reported) return;
    const timer = setTimeout(
      () => {
        reportedAtMs.current = performance.now();
        setReported(text);
      },
      Math.max(0, reportedAtMs.current + CALM_MS - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [text, reported]);
  return reported;
}
