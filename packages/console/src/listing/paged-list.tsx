/**
 * A list that is read in pages, newest first.
 *
 * QL1  Nothing moves under the reader: newer rows wait behind a button that says how many there are, and a changed row
 *      is told anew in its place. A stream says that something came; the rows themselves are read.
 * QL2  "More" goes on with the filter that the first page was read with.
 * QL3  Where a search ended early it says how far it came, and "more" goes on from there.
 * QL4  At most `MOST_PAGES` stand there: "more" then puts the newest of them away, and a button leads back to those.
 */
import { type ReactNode, useEffect, useRef, useState } from "react";
import { GridList, GridListItem } from "react-aria-components";
import { Button } from "../elements/button.tsx";
import { copyText } from "../elements/clipboard.ts";
import { usePageKey } from "../keys/page-keys.ts";
import { focusedRowKey, pressRowResend } from "../keys/rows.ts";
import { MomentText } from "../moment/moment-text.tsx";
import { Freshness } from "./freshness.tsx";
import styles from "./listing.module.css";
import { Loaded } from "./loaded.tsx";
import { PAGE, type PagesProps, usePages } from "./pages.ts";

/** A screen reader is told no more often. */
const CALM_MS = 5000;

/** How long it says that something was copied. */
const COPIED_MS = 1500;

export interface PagedListProps<Row> extends PagesProps<Row> {
  /** For screen readers: "deliveries". */
  readonly what: string;
  /** In words, for screen readers. */
  readonly textOf: (row: Row) => string;
  /** Where Enter leads; null for a row that leads nowhere. */
  readonly linkOf?: (row: Row) => string | null;
  readonly empty: ReactNode;
  readonly rowClass: string | undefined;
  /** The id that a key copies of the row that has the focus. */
  readonly copyOf?: (row: Row) => string;
  /** See LoadedProps. */
  readonly isNamed?: boolean;
  /** See LoadedProps. */
  readonly isAwaited?: boolean;
  readonly children: (row: Row) => ReactNode;
}

export function PagedList<Row>(props: PagedListProps<Row>) {
  const { what, idOf, textOf, linkOf, empty, rowClass, children, isNamed = false, isAwaited = false } = props;
  const { query, shown, came, last, asOf, isComplete, mayLack, isPutAway, failure, readAnew } = usePages(props);
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
            <Freshness asOf={asOf} complete={isComplete} failure={failure} />
            <span className={styles["heard"]} role="status">
              {cameWords}
            </span>
            <span>
              <span role="status">
                {copied !== null && (
                  <>
                    {copied.isCopied ? "copied" : "not copied, the browser does not let it:"} <code>
                      {copied.text}
                    </code>{" "}
                  </>
                )}
              </span>
              <ReadAnew came={came} mayLack={mayLack} isPutAway={isPutAway} onPress={readAnew} />
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

interface ReadAnewProps {
  /** Rows that wait. */
  readonly came: number;
  readonly mayLack: boolean;
  readonly isPutAway: boolean;
  readonly onPress: () => void;
}

/** QL1, QL4. */
function ReadAnew({ came, mayLack, isPutAway, onPress }: ReadAnewProps) {
  if (came === 0 && isPutAway) return <Button onPress={onPress}>Back to the newest</Button>;
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

interface Copied {
  readonly text: string;
  /** False where the browser kept its clipboard from the page. */
  readonly isCopied: boolean;
}

/** Returns the text copied a moment ago. */
function useRowKeys<Row>(props: PagedListProps<Row>, shown: readonly Row[]): Copied | null {
  const { idOf, copyOf } = props;
  const [copied, setCopied] = useState<Copied | null>(null);
  const focused = (): Row | undefined => shown.find((row) => idOf(row) === focusedRowKey());
  const copy = async (): Promise<void> => {
    const row = focused();
    if (row === undefined || copyOf === undefined) return;
    setCopied({ text: copyOf(row), isCopied: await copyText(copyOf(row)) });
    setTimeout(() => setCopied(null), COPIED_MS);
  };
  usePageKey("c", copyOf === undefined ? null : () => void copy());
  usePageKey("r", pressRowResend);
  return copied;
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
