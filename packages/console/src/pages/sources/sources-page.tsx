/** Where calls come from. */
import { useState } from "react";
import type { Source } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { CopiedId } from "../../elements/copied.tsx";
import elements from "../../elements/elements.module.css";
import { shortKey } from "../../elements/short-text.ts";
import type { Column } from "../../listing/column.ts";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { Ago } from "../../moment/moment-text.tsx";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { Mark } from "../../verdict/mark.tsx";
import { NewSourceDialog } from "./new-source-dialog.tsx";
import styles from "./sources-page.module.css";

export function SourcesPage() {
  const unavailable = useMissingScope("write");
  const [isMaking, setMaking] = useState(false);
  const create = (
    <Button look="primary" unavailable={unavailable} onPress={() => setMaking(true)}>
      New source
    </Button>
  );
  return (
    <>
      <PageTitle>Sources</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Sources</h1>
        {create}
      </div>
      <PagedList
        queryKey={["GET /v1/sources"]}
        read={({ signal, ...page }) => call("GET /v1/sources", { query: page, signal })}
        what="sources"
        idOf={({ id }) => id}
        textOf={({ name, kind }) => `${name} ${kind}`}
        linkOf={({ id }) => `/sources/${id}`}
        copyOf={({ id }) => id}
        columns={COLUMNS}
        className={styles["sources"]}
        empty={
          <Empty action={create} command="posthaste sources create --name 'My website' --kind web">
            There is no source yet: a website, an app or a server that sends calls.
          </Empty>
        }
      />
      {isMaking && <NewSourceDialog onClose={() => setMaking(false)} />}
    </>
  );
}

const COLUMNS: readonly Column<Source>[] = [
  {
    ...{ key: "name", heading: "Name", narrow: "title", wholeOf: ({ name }: Source) => name },
    cell: ({ name }) => <strong>{name}</strong>,
  },
  { key: "kind", heading: "Kind", narrow: "labelled", cell: ({ kind }) => kind },
  {
    ...{ key: "state", heading: "State", narrow: "side" },
    cell: ({ enabled }) => <Mark tone={enabled ? "good" : "off"}>{enabled ? "on" : "off"}</Mark>,
  },
  {
    key: "writeKey",
    heading: "Write key",
    narrow: "labelled",
    cell: ({ writeKey }) => <code>{shortKey(writeKey)}</code>,
  },
  { key: "created", heading: "Created", narrow: "labelled", cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    ...{ key: "id", heading: "ID", narrow: "hidden" },
    cell: ({ id }) => <CopiedId what="source id" id={id} />,
  },
];
