/** Where events go. */
import { call } from "../../api/client.ts";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { useNames } from "../../names/names.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./destinations-page.module.css";

export function DestinationsPage() {
  const nameOf = useNames();
  return (
    <>
      <title>Destinations · Posthaste</title>
      <h1>Destinations</h1>
      <PagedList
        queryKey={["GET /v1/destinations"]}
        read={({ signal, ...page }) => call("GET /v1/destinations", { query: page, signal })}
        what="destinations"
        idOf={({ id }) => id}
        textOf={({ name, enabled }) => `${name} ${enabled ? "on" : "off"}`}
        linkOf={({ id }) => `/destinations/${id}`}
        rowClass={styles["destination"]}
        empty={
          <Empty command="posthaste destinations create --help">
            There is no destination yet: a webhook that gets the events of your sources.
          </Empty>
        }
      >
        {({ name, enabled, sourceIds, settings, missingKeyIds }) => (
          <>
            <strong>{name}</strong>
            {missingKeyIds === null ? (
              <Mark tone={enabled ? "good" : "off"}>{enabled ? "on" : "off"}</Mark>
            ) : (
              <Mark tone="bad">{`lacks the key ${missingKeyIds.join(", ")}`}</Mark>
            )}
            <span className={styles["detail"]}>from {sourceIds.map(nameOf).join(", ") || "no source"}</span>
            <code className={styles["detail"]}>{settings.urls.map(({ url }) => url).join(" ")}</code>
          </>
        )}
      </PagedList>
    </>
  );
}
