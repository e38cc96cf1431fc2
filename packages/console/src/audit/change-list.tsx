/** Changes with their authors, newest first. */
import type { ReactNode } from "react";
import { call } from "../api/client.ts";
import type { Filter } from "../listing/filter.ts";
import { PagedList } from "../listing/paged-list.tsx";
import { MomentText } from "../moment/moment-text.tsx";
import { useNames } from "../names/names.ts";
import styles from "./change-list.module.css";
import { type Change, operationWords, WAY_WORDS } from "./change-words.ts";

/** The audit's word in place of a secret. */
const SECRET = "changed";

export type ChangeFilterKey = "actor" | "target" | "operation" | "since" | "until";

export interface ChangeListProps {
  readonly filter: Filter<ChangeFilterKey>;
  readonly empty: ReactNode;
}

export function ChangeList({ filter, empty }: ChangeListProps) {
  const nameOf = useNames();
  const { actor, target, operation } = filter;
  return (
    <PagedList
      queryKey={["GET /v1/audit", filter]}
      read={({ signal, ...page }) => call("GET /v1/audit", { query: { ...filter, ...page }, signal })}
      what="changes"
      isNamed
      idOf={({ id, requestId, time }) => `${id ?? time} ${requestId ?? "unknown"}`}
      textOf={({ actor, operation, target }) => `${actor} ${operationWords(operation)} ${target}`}
      // Where it is of one thing, its page is the one that the list stands on, or leads to it.
      linkOf={(change) => (target === undefined ? pageOf(change.target) : null)}
      copyOf={({ requestId, target }) => requestId ?? target}
      rowClass={styles["change"]}
      live={{ topics: ["audit"], filter: { actor, target, operation } }}
      empty={empty}
    >
      {(change) => <ChangeRow change={change} nameOf={nameOf} />}
    </PagedList>
  );
}

interface ChangeRowProps {
  readonly change: Change;
  readonly nameOf: (id: string) => string;
}

function ChangeRow({ change, nameOf }: ChangeRowProps) {
  const { time, actor, way, operation, target, changes, requestId } = change;
  // A new object had no fields before.
  const isNew = changes.every(({ from }) => from === null);
  return (
    <>
      <MomentText at={time} withDistance />
      <span>
        <strong>{actor}</strong> <span className={styles["detail"]}>by {WAY_WORDS[way]}</span>
      </span>
      <span>
        {operationWords(operation)} <code>{nameOf(target)}</code>
      </span>
      <span className={styles["detail"]}>
        {changes.map(({ field, from, to }) => (
          <span key={field} className={styles["field"]}>
            {field}: {isOtherSecret({ from, to }) || (from === null && isNew) ? "" : `${from ?? "nothing"} → `}
            {to ?? "nothing"}
          </span>
        ))}
        {requestId !== null && <code>{requestId}</code>}
      </span>
    </>
  );
}

/** By how their ids begin, those that have a page. */
const PAGES: Readonly<Record<string, string>> = {
  ...{ dst: "destinations", src: "sources", aud: "audiences", rpl: "replays" },
};

/** The page of the changed object; null where it has no page. */
function pageOf(target: string): string | null {
  const page = PAGES[/^([a-z]+)_/.exec(target)?.[1] ?? ""];
  return page === undefined ? null : `/${page}/${encodeURIComponent(target)}`;
}

/** Of a secret the audit says only that it is another one. */
function isOtherSecret({ from, to }: Pick<Change["changes"][number], "from" | "to">): boolean {
  return from === SECRET && to === SECRET;
}
