/** One destination: its health, its deliveries, its settings, its secret, its changes. */
import { useQuery } from "@tanstack/react-query";
import { useParams, useRouter, useSearch } from "@tanstack/react-router";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { ChangeList } from "../../audit/change-list.tsx";
import { TestSend } from "../../destination-form/test-send.tsx";
import { Copied } from "../../elements/copied.tsx";
import elements from "../../elements/elements.module.css";
import { searchOf } from "../../listing/filter.ts";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { Ago } from "../../moment/moment-text.tsx";
import { PageTitle } from "../../status/page-title.tsx";
import { DeliveryList } from "../deliveries/delivery-list.tsx";
import { DestinationForm, useDestinationDraft } from "./destination-form.tsx";
import { DestinationHead } from "./destination-head.tsx";
import { TABS } from "./destination-tab.ts";
import styles from "./destinations-page.module.css";
import { HealthPart } from "./health-part.tsx";
import { RemoveDestination } from "./remove-destination.tsx";
import { SecretPart } from "./secret-part.tsx";
import { SecretReminder } from "./secret-reminder.tsx";

export function DestinationPage() {
  const { destinationId } = useParams({ from: "/destinations/$destinationId" });
  const query = useQuery(asked("GET /v1/destinations/{id}", { params: { id: destinationId } }));
  const { data } = query;
  return (
    <>
      <PageTitle>{data?.name ?? destinationId}</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>{data?.name ?? destinationId}</h1>
        {data !== undefined && <DestinationHead destination={data} />}
        <a href={`/dead-letters/letters${searchOf({ destinationId })}`}>Dead letters</a>
      </div>
      <Loaded
        query={query}
        what="destination"
        gone={
          <Empty
            action={<a href="/destinations">All destinations</a>}
            command={`posthaste audit --target ${destinationId}`}
          >
            There is no such destination any more.
          </Empty>
        }
      >
        {(destination) => <Parts key={destination.id} destination={destination} />}
      </Loaded>
    </>
  );
}

function Parts({ destination }: { readonly destination: Destination }) {
  const { tab = "health" } = useSearch({ from: "/destinations/$destinationId" });
  const router = useRouter();
  const revised = useDestinationDraft(destination);
  return (
    <div data-state="live">
      <p className={styles["facts"]}>
        <Copied what="destination id" text={destination.id} />
        <span>
          created <Ago at={destination.createdAt} />
        </span>
        <a href={`/destinations/${destination.id}${searchOf({ tab: "changes" })}`}>
          last change <Ago at={destination.updatedAt} />
        </a>
      </p>
      <SecretReminder destination={destination} />
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
        <TabPanel id="health" className={styles["panel"] ?? ""}>
          <HealthPart destinationId={destination.id} />
        </TabPanel>
        <TabPanel id="deliveries" className={styles["panel"] ?? ""}>
          <DeliveryList
            filter={{ destinationId: destination.id }}
            empty={
              <Empty
                action={<a href={`/destinations/${destination.id}${searchOf({ tab: "settings" })}`}>Its settings</a>}
                command={`posthaste deliveries --destination-id ${destination.id}`}
              >
                Nothing was delivered here yet.
              </Empty>
            }
          />
        </TabPanel>
        <TabPanel id="settings" className={styles["panel"] ?? ""}>
          <DestinationForm revised={revised} />
          <TestSend destination={destination} />
          <RemoveDestination destination={destination} />
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
