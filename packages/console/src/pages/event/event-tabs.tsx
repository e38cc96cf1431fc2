/** The payload, the attempts and the timeline of an event; the timeline alone where nothing was sent. */
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import type { EventVerdict } from "../../api/api-types.ts";
import { Attempts } from "./attempts.tsx";
import { wasSent } from "./destination-verdict.tsx";
import styles from "./event-page.module.css";
import { ShownRecord } from "./request-record.tsx";
import { Timeline } from "./timeline.tsx";

export interface EventTabsProps {
  readonly event: EventVerdict["events"][number];
  readonly messageId: string;
  readonly nameOf: (id: string) => string;
}

export function EventTabs({ event, messageId, nameOf }: EventTabsProps) {
  const { sourceId, destinations, timeline, delivered } = event;
  const times = <Timeline steps={timeline} coming={destinations} nameOf={nameOf} />;
  if (destinations.length === 0 && delivered === null) {
    return (
      <>
        <h3>Timeline</h3>
        {times}
      </>
    );
  }
  // Each destination gets the same body.
  const sent = destinations.find(wasSent);
  return (
    <Tabs defaultSelectedKey="attempts">
      <TabList aria-label="Parts of the event" className={styles["tabs"] ?? ""}>
        {sent !== undefined && <EventTab id="payload">Payload</EventTab>}
        <EventTab id="attempts">Attempts</EventTab>
        <EventTab id="timeline">Timeline</EventTab>
      </TabList>
      {sent !== undefined && (
        <TabPanel id="payload" className={styles["panel"] ?? ""}>
          <ShownRecord delivery={{ messageId, sourceId, destinationId: sent.destinationId }} />
        </TabPanel>
      )}
      <TabPanel id="attempts" className={styles["panel"] ?? ""}>
        <Attempts messageId={messageId} event={event} nameOf={nameOf} />
      </TabPanel>
      <TabPanel id="timeline" className={styles["panel"] ?? ""}>
        {times}
      </TabPanel>
    </Tabs>
  );
}

function EventTab({ id, children }: { readonly id: string; readonly children: string }) {
  return (
    <Tab id={id} className={styles["tab"] ?? ""}>
      {children}
    </Tab>
  );
}
