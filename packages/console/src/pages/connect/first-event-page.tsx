/** A new connection waits for its first event, which is shown on its way when it comes. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { ApiProblem } from "../../api/client.ts";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { Snippets } from "../../snippets/snippets.tsx";
import { PageTitle } from "../../status/page-title.tsx";
import styles from "./connect.module.css";
import { FirstEvent } from "./first-event.tsx";
import { SampleEvent } from "./sample-event.tsx";
import { TestReceiverLinks } from "./test-receiver-links.tsx";
import { useFirstMessage } from "./use-first-message.ts";

export function FirstEventPage() {
  const { destinationId } = useParams({ from: "/connect/$destinationId" });
  const query = useQuery(asked("GET /v1/destinations/{id}", { params: { id: destinationId } }));
  const { data, error } = query;
  const isGone = data === undefined && error instanceof ApiProblem && error.status === 404;
  return (
    <>
      <PageTitle>First event</PageTitle>
      <h1>{data === undefined ? "First event" : `${data.name} is connected`}</h1>
      {isGone ? (
        <Empty action={<a href="/connect">Connect a webhook</a>}>There is no such destination any more.</Empty>
      ) : (
        <Loaded query={query} what="destination">
          {(destination) => <Waiting destination={destination} />}
        </Loaded>
      )}
    </>
  );
}

function Waiting({ destination }: { readonly destination: Destination }) {
  const [sourceId = ""] = destination.sourceIds;
  const source = useQuery({ ...asked("GET /v1/sources/{id}", { params: { id: sourceId } }), enabled: sourceId !== "" });
  const first = useFirstMessage(destination, sourceId);
  return (
    <div data-state="live" className={styles["first"]}>
      {first.messageId === null ? (
        <section className={styles["waiting"]} aria-label="Waiting">
          <p role="status">
            <strong>Waiting for the first event.</strong> Send a sample, or send from your own program.
          </p>
          <SampleEvent destination={destination} sourceId={sourceId} onSent={first.see} />
          <TestReceiverLinks destination={destination} />
        </section>
      ) : (
        <FirstEvent messageId={first.messageId}>
          <SampleEvent
            destination={destination}
            sourceId={sourceId}
            onSent={first.see}
            isAnother
            isFocused={first.isSent}
          />
          <TestReceiverLinks destination={destination} />
        </FirstEvent>
      )}
      {source.data !== undefined && (
        <section aria-labelledby="snippets" className={styles["part"]}>
          <h2 id="snippets">Send from your own program</h2>
          <Snippets writeKey={source.data.writeKey} />
          <p className={styles["detail"]}>
            Both stay: the destination <a href={`/destinations/${destination.id}`}>{destination.name}</a>, and the
            source <a href={`/sources/${sourceId}`}>{source.data.name}</a> with these lines.
          </p>
        </section>
      )}
    </div>
  );
}
