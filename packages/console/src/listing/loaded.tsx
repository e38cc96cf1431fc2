/**
 * Data that is read, in its four states. Loading: nothing for 150 ms, then a skeleton of about the size of the data.
 * Empty: one sentence, one action, its command. Error: the fault, since when, the request's id, and a retry; data read
 * before stays. Live: the data.
 *
 * LD1  A failure is since when it came first, however often it is tried again, and stands until something was read.
 * LD2  Where control does not answer, it is tried again until it does.
 */
import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { ApiProblem } from "../api/client.ts";
import { Copied } from "../elements/copied.tsx";
import { useNaming } from "../names/names.ts";
import { type FailingQuery, Failure, useFault } from "./failure.tsx";
import styles from "./listing.module.css";

const QUIET_MS = 150;

type ReadQuery<Data> = Pick<UseQueryResult<Data>, "data"> & FailingQuery;

export interface LoadedProps<Data> {
  readonly query: ReadQuery<Data>;
  /** The noun of the data, for screen readers: "deliveries". */
  readonly what: string;
  /** Rows of the skeleton. */
  readonly rows?: number;
  /** It names destinations or sources: it comes with their names, so that nothing moves when they are known. */
  readonly isNamed?: boolean;
  /** It comes with something else that is not there yet. */
  readonly isAwaited?: boolean;
  /** The text in place of the skeleton, for data that takes long. */
  readonly meanwhile?: ReactNode;
  readonly isEmpty?: (data: Data) => boolean;
  readonly empty?: ReactNode;
  /** In place of everything, where control knows no such thing. */
  readonly gone?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}

export function Loaded<Data>({ isNamed = false, gone, ...props }: LoadedProps<Data>) {
  const { data, error } = props.query;
  if (gone !== undefined && data === undefined && error instanceof ApiProblem && error.status === 404) return gone;
  return isNamed ? <Named {...props} /> : <Read {...props} />;
}

function Named<Data>({ isAwaited = false, ...props }: Omit<LoadedProps<Data>, "isNamed" | "gone">) {
  const { isSettled } = useNaming();
  return <Read {...props} isAwaited={isAwaited || !isSettled} />;
}

function Read<Data>(props: Omit<LoadedProps<Data>, "isNamed" | "gone">) {
  const { query, what, rows = 8, isAwaited = false, meanwhile, isEmpty, empty, children } = props;
  // Looked at in any case: a query tells its caller only of fields that were looked at.
  const { data: read } = query;
  const fault = useFault(query);
  const data = isAwaited ? undefined : read;
  return (
    <>
      {fault !== null && <Failure query={query} what={what} fault={fault} />}
      {data === undefined && fault === null && <Skeleton what={what} rows={rows} meanwhile={meanwhile} />}
      {data !== undefined && (isEmpty?.(data) === true ? empty : children(data))}
    </>
  );
}

function Skeleton({
  what,
  rows,
  meanwhile,
}: Pick<LoadedProps<unknown>, "what" | "meanwhile"> & { readonly rows: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={styles["skeleton"]} data-state="loading" aria-busy="true">
      <span className={styles["heard"]} role="status">
        {isShown ? `Loading ${what}` : ""}
      </span>
      {meanwhile ??
        Array.from({ length: rows }, (_, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows without content are told apart by nothing else
          <div key={row} className={isShown ? styles["bar"] : styles["space"]} />
        ))}
    </div>
  );
}

/** In the place of a part that comes without a word, where the part below comes with it (`inTurn`). */
export function Awaited() {
  return <div data-state="loading" aria-busy="true" />;
}

export interface EmptyProps {
  /** One sentence. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
  /** The line for the terminal that does the same. */
  readonly command?: string;
}

export function Empty({ children, action, command }: EmptyProps) {
  return (
    <section data-state="empty" className={styles["empty"]}>
      <p>{children}</p>
      {action}
      {command !== undefined && <Copied what="command" text={command} />}
    </section>
  );
}
