/** Changes with their authors, newest first. */
import type { ReactNode } from "react";
import { call } from "../api/client.ts";
import { CopyButton } from "../elements/copied.tsx";
import type { Column } from "../listing/column.ts";
import type { Filter } from "../listing/filter.ts";
import { PagedList } from "../listing/paged-list.tsx";
import { Ago } from "../moment/moment-text.tsx";
import { useNames } from "../names/names.ts";
import styles from "./change-list.module.css";
import { type Change, deedWords, fieldWords, switched, valueWords, WAY_WORDS } from "./change-words.ts";

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
      textOf={(change) => `${change.actor} ${deedWords(change, nameOf)}`}
      // Where it is of one thing, its page is the one that the list stands on, or leads to it.
      linkOf={(change) => (target === undefined ? pageOf(change.target) : null)}
      copyOf={({ requestId, target }) => requestId ?? target}
      columns={columnsOf(nameOf)}
      className={styles["changes"]}
      live={{ topics: ["audit"], filter: { actor, target, operation } }}
      empty={empty}
    />
  );
}

function columnsOf(nameOf: (id: string) => string): readonly Column<Change>[] {
  return [
    {
      ...{ key: "deed", heading: "Activity", narrow: "title", wraps: true },
      cell: (change) => (
        <>
          <strong>{change.actor}</strong> {deedWords(change, nameOf)}
        </>
      ),
    },
    {
      ...{ key: "changes", heading: "Before → after", narrow: "line", wraps: true },
      cell: (change) => switched(change) === null && <Changes changes={change.changes} nameOf={nameOf} />,
    },
    { key: "way", heading: "Made by", narrow: "hidden", cell: ({ way }) => WAY_WORDS[way] },
    { key: "time", heading: "Time", narrow: "side", cell: ({ time }) => <Ago at={time} /> },
    {
      ...{ key: "request", heading: "Request ID", isHeadingHeard: true, isActions: true, narrow: "hidden" },
      cell: ({ requestId }) => requestId !== null && <CopyButton what={`request id ${requestId}`} text={requestId} />,
    },
  ];
}

interface ChangesProps extends Pick<Change, "changes"> {
  readonly nameOf: (id: string) => string;
}

function Changes({ changes, nameOf }: ChangesProps) {
  return changes.map((change) => (
    <span key={change.field} className={styles["field"]}>
      <span className={styles["detail"]}>{fieldWords(change.field)}</span> {valueWords(change, nameOf)}
    </span>
  ));
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
