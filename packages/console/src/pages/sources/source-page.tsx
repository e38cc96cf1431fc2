/** One source: its key, whether its calls are taken, and their outcomes. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { asked } from "../../api/asked.ts";
import elements from "../../elements/elements.module.css";
import { searchOf } from "../../listing/filter.ts";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { Ago } from "../../moment/moment-text.tsx";
import { Snippets } from "../../snippets/snippets.tsx";
import { PageTitle } from "../../status/page-title.tsx";
import { Mark } from "../../verdict/mark.tsx";
import { CallsPart } from "./calls-part.tsx";
import { RemoveSource } from "./remove-source.tsx";
import { SourceForm } from "./source-form.tsx";
import { KINDS } from "./source-kinds.ts";
import styles from "./sources-page.module.css";
import { WriteKey } from "./write-key.tsx";

export function SourcePage() {
  const { sourceId } = useParams({ from: "/sources/$sourceId" });
  const query = useQuery(asked("GET /v1/sources/{id}", { params: { id: sourceId } }));
  const { data } = query;
  return (
    <>
      <PageTitle>{data?.name ?? sourceId}</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>{data?.name ?? sourceId}</h1>
        {data !== undefined && (
          <span className={styles["detail"]}>{KINDS.find(([kind]) => kind === data.kind)?.[1] ?? data.kind}</span>
        )}
        {data !== undefined && (
          <span className={styles["detail"]}>
            created <Ago at={data.createdAt} />
          </span>
        )}
        {data !== undefined && <Mark tone={data.enabled ? "good" : "off"}>{data.enabled ? "on" : "off"}</Mark>}
      </div>
      <Loaded
        query={query}
        what="source"
        gone={
          <Empty action={<a href="/sources">All sources</a>} command={`posthaste audit --target ${sourceId}`}>
            There is no such source any more.
          </Empty>
        }
      >
        {(source) => (
          <div data-state="live" className={styles["parts"]}>
            <WriteKey source={source} />
            <SourceForm key={source.id} source={source} />
            <details>
              <summary>Send from your own program</summary>
              <Snippets writeKey={source.writeKey} />
            </details>
            <CallsPart sourceId={source.id} writeKey={source.writeKey} />
            <p>
              <a href={`/deliveries${searchOf({ sourceId })}`}>Its deliveries</a> ·{" "}
              <a href={`/activity${searchOf({ target: sourceId })}`}>Its changes</a>
            </p>
            <RemoveSource source={source} />
          </div>
        )}
      </Loaded>
    </>
  );
}
