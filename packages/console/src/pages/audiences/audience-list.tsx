import type { ReactNode } from "react";
import type { AudienceEntry } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { PagedList } from "../../listing/paged-list.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useNames } from "../../names/names.ts";
import styles from "./audiences.module.css";
import { LastSync, LastValues, RunningSync } from "./sync-words.tsx";

/** Audiences, each with its page. */
export function AudienceList({ empty }: { readonly empty: ReactNode }) {
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
      rowClass={styles["audience"]}
      empty={empty}
    >
      {(audience) => (
        <Row entry={audience} sizeWords="users" last={<LastSync lastSync={audience.lastSync} isNamed />} />
      )}
    </PagedList>
  );
}

/** Computed traits: the API and the command line read and write their values. */
export function ComputedTraitList({ empty }: { readonly empty: ReactNode }) {
  return (
    <PagedList
      queryKey={["GET /v1/computed-traits"]}
      read={({ signal, ...page }) => call("GET /v1/computed-traits", { query: page, signal })}
      what="computed traits"
      isNamed
      idOf={({ id }) => id}
      textOf={({ name, trait }) => `${name} ${trait}`}
      rowClass={styles["audience"]}
      empty={empty}
    >
      {(trait) => <Row entry={trait} sizeWords="users with a value" last={<LastValues lastSync={trait.lastSync} />} />}
    </PagedList>
  );
}

interface RowProps {
  readonly entry: AudienceEntry;
  /** The noun of its size. */
  readonly sizeWords: string;
  /** The text where no sync runs. */
  readonly last: ReactNode;
}

function Row({ entry, sizeWords, last }: RowProps) {
  const nameOf = useNames();
  const { name, trait, sourceId, size, syncing } = entry;
  return (
    <>
      <strong>{name}</strong>
      <span>
        trait <code>{trait}</code>
      </span>
      <span>of {nameOf(sourceId)}</span>
      <span className={styles["figure"]}>
        {sizeWords}: {countOf(size)}
      </span>
      <span className={styles["detail"]}>{syncing === null ? last : <RunningSync syncing={syncing} />}</span>
    </>
  );
}
