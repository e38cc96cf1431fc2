import type { ComponentType, ReactNode } from "react";
import type { AudienceEntry } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import type { Column } from "../../listing/column.ts";
import { PagedList } from "../../listing/paged-list.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useNames } from "../../names/names.ts";
import styles from "./audiences.module.css";
import { LastSync, LastValues, RunningSync } from "./sync-words.tsx";

/** Audiences, each with its page. */
export function AudienceList({ empty }: { readonly empty: ReactNode }) {
  const nameOf = useNames();
  return (
    <PagedList
      queryKey={["GET /v1/audiences"]}
      read={({ signal, ...page }) => call("GET /v1/audiences", { query: page, signal })}
      what="audiences"
      isNamed
      idOf={({ id }) => id}
      textOf={({ name, trait }) => `${name} ${trait}`}
      linkOf={({ id }) => `/audiences/${id}`}
      copyOf={({ id }) => id}
      columns={columnsOf(nameOf, "Last sync", LastSync)}
      className={styles["audiences"]}
      empty={empty}
    />
  );
}

/** Computed traits: the API and the command line read and write their values. */
export function ComputedTraitList({ empty }: { readonly empty: ReactNode }) {
  const nameOf = useNames();
  return (
    <PagedList
      queryKey={["GET /v1/computed-traits"]}
      read={({ signal, ...page }) => call("GET /v1/computed-traits", { query: page, signal })}
      what="computed traits"
      isNamed
      idOf={({ id }) => id}
      textOf={({ name, trait }) => `${name} ${trait}`}
      columns={columnsOf(nameOf, "Last values", LastValues)}
      className={styles["audiences"]}
      empty={empty}
    />
  );
}

/** `Last`: the words where no sync runs. */
function columnsOf(
  nameOf: (id: string) => string,
  heading: string,
  Last: ComponentType<Pick<AudienceEntry, "lastSync">>,
): readonly Column<AudienceEntry>[] {
  return [
    {
      ...{ key: "name", heading: "Name", narrow: "title", wholeOf: ({ name }) => name },
      cell: ({ name }) => <strong>{name}</strong>,
    },
    {
      ...{ key: "trait", heading: "Trait", narrow: "labelled", wholeOf: ({ trait }) => trait },
      cell: ({ trait }) => <code>{trait}</code>,
    },
    {
      ...{ key: "source", heading: "Source", narrow: "labelled", wholeOf: ({ sourceId }) => nameOf(sourceId) },
      cell: ({ sourceId }) => nameOf(sourceId),
    },
    { key: "size", heading: "Users", narrow: "labelled", isFigure: true, cell: ({ size }) => countOf(size) },
    {
      ...{ key: "last", heading, narrow: "line", wraps: true },
      cell: ({ syncing, lastSync }) => (
        <span className={styles["detail"]}>
          {syncing === null ? <Last lastSync={lastSync} /> : <RunningSync syncing={syncing} />}
        </span>
      ),
    },
  ];
}
