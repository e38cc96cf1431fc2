/** Where calls come from. */
import { useState } from "react";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import elements from "../../elements/elements.module.css";
import { shortKey } from "../../elements/short-text.ts";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
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
        rowClass={styles["source"]}
        empty={
          <Empty action={create} command="posthaste sources create --name 'My website' --kind web">
            There is no source yet: a website, an app or a server that sends calls.
          </Empty>
        }
      >
        {({ name, kind, enabled, writeKey, createdAt }) => (
          <>
            <strong>{name}</strong>
            <span>{kind}</span>
            <Mark tone={enabled ? "good" : "off"}>{enabled ? "on" : "off"}</Mark>
            <span className={styles["detail"]}>
              key <code>{shortKey(writeKey)}</code>
            </span>
            <span className={styles["detail"]}>
              since <MomentText at={createdAt} />
            </span>
          </>
        )}
      </PagedList>
      {isMaking && <NewSourceDialog onClose={() => setMaking(false)} />}
    </>
  );
}
