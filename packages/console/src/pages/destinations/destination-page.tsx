/** One destination: what it is set to, its secret, who changed it. */
import { useQuery } from "@tanstack/react-query";
import { useParams, useRouter, useSearch } from "@tanstack/react-router";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { ApiProblem } from "../../api/client.ts";
import { ChangeList } from "../../audit/change-list.tsx";
import elements from "../../elements/elements.module.css";
import { searchOf } from "../../listing/filter.ts";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { Mark } from "../../verdict/mark.tsx";
import { DestinationForm } from "./destination-form.tsx";
import { TABS } from "./destination-tab.ts";
import styles from "./destinations-page.module.css";
import { SecretPart } from "./secret-part.tsx";
import { TestSend } from "./test-send.tsx";

export function DestinationPage() {
  const { destinationId } = useParams({ from: "/destinations/$destinationId" });
  const query = useQuery(asked("GET /v1/destinations/{id}", { params: { id: destinationId } }));
  const { data, error } = query;
  const isGone = data === undefined && error instanceof ApiProblem && error.status === 404;
  return (
    <>
      <title>{`${data?.name ?? destinationId} · Posthaste`}</title>
      <div className={elements["pageHead"]}>
        <h1>{data?.name ?? destinationId}</h1>
        {data !== undefined && <Mark tone={data.enabled ? "good" : "off"}>{data.enabled ? "on" : "off"}</Mark>}
        <a href={`/deliveries${searchOf({ destinationId })}`}>Deliveries</a>
        <a href={`/dead-letters/letters${searchOf({ destinationId })}`}>Dead letters</a>
      </div>
      {isGone ? (
        <Empty
          action={<a href="/destinations">All destinations</a>}
          command={`posthaste audit --target ${destinationId}`}
        >
          There is no such destination any more.
        </Empty>
      ) : (
        <Loaded query={query} what="destination">
          {(destination) => <Parts destination={destination} />}
        </Loaded>
      )}
    </>
  );
}

function Parts({ destination }: { readonly destination: Destination }) {
  const { tab = "settings" } = useSearch({ from: "/destinations/$destinationId" });
  const router = useRouter();
  return (
    <div data-state="live">
      <Tabs
        selectedKey={tab}
        onSelectionChange={(key) =>
          router.history.replace(`${router.state.location.pathname}${searchOf({ tab: String(key) })}`)
        }
      >
        <TabList aria-label="Parts" className={styles["tabs"] ?? ""}>
          {TABS.map(([id, words]) => (
            <Tab key={id} id={id} className={styles["tab"] ?? ""}>
              {words}
            </Tab>
          ))}
        </TabList>
        <TabPanel id="settings" className={styles["panel"] ?? ""}>
          <DestinationForm key={destination.revision} destination={destination} />
          <TestSend destination={destination} />
        </TabPanel>
        <TabPanel id="secret" className={styles["panel"] ?? ""}>
          <SecretPart destination={destination} />
        </TabPanel>
        <TabPanel id="changes" className={styles["panel"] ?? ""}>
          <ChangeList
            filter={{ target: destination.id }}
            empty={
              <Empty command={`posthaste audit --target ${destination.id}`}>No change of it is known any more.</Empty>
            }
          />
        </TabPanel>
      </Tabs>
    </div>
  );
}
