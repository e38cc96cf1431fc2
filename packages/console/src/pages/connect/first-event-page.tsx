/** A new connection waits for its first event, which is shown on its way when it comes. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useAgain } from "../../api/again.ts";
import type { Destination, SourceCalls } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { searchOf } from "../../listing/filter.ts";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { ConnectLink } from "../../session/connect-link.tsx";
import { useMissingScope } from "../../session/session.ts";
import { Snippets } from "../../snippets/snippets.tsx";
import { PageTitle } from "../../status/page-title.tsx";
import styles from "./connect.module.css";
import { FirstEvent } from "./first-event.tsx";
import { SampleEvent } from "./sample-event.tsx";

/** A source's calls come a moment after they were taken; a programmer may take an hour until the first. */
const AGAIN = { leastMs: 1000, mostMs: 10_000 };

const NEWEST = 5;

/** As control makes URLs of test receivers. */
const RECEIVER_URL = /\/receive\/(rcv_\w+)$/;

export function FirstEventPage() {
  const { destinationId } = useParams({ from: "/connect/$destinationId" });
  const query = useQuery(asked("GET /v1/destinations/{id}", { params: { id: destinationId } }));
  const { data } = query;
  return (
    <>
      <PageTitle>First event</PageTitle>
      <h1>{data === undefined ? "First event" : `${data.name} is connected`}</h1>
      <Loaded
        query={query}
        what="destination"
        gone={<Empty action={<ConnectLink />}>There is no such destination any more.</Empty>}
      >
        {(destination) => <Waiting destination={destination} />}
      </Loaded>
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
            Both are saved: the destination <a href={`/destinations/${destination.id}`}>{destination.name}</a>, and the
            source <a href={`/sources/${sourceId}`}>{source.data.name}</a> with these lines.
          </p>
        </section>
      )}
    </div>
  );
}

/** Where the destination leads to test receivers: the way to their requests, for tokens that may see them. */
function TestReceiverLinks({ destination: { settings } }: { readonly destination: Destination }) {
  const missingScope = useMissingScope("write");
  const ids = settings.urls.flatMap(({ url }) => RECEIVER_URL.exec(url)?.[1] ?? []);
  if (missingScope !== null || ids.length === 0) return null;
  return (
    <p>
      {ids.map((id, at) => (
        <span key={id}>
          {at > 0 && " · "}
          <a href={`/test-receivers${searchOf({ id })}`}>
            {ids.length === 1 ? "What the test receiver got" : `What test receiver ${at + 1} got`}
          </a>
        </span>
      ))}
    </p>
  );
}

/** The sample that was sent, else the first call of the source that was taken since the destination is there. */
function useFirstMessage({ createdAt }: Destination, sourceId: string) {
  const [sent, see] = useState<string | null>(null);
  const again = useAgain(AGAIN);
  const firstOf = ({ data }: SourceCalls) =>
    data.filter(({ what, time }) => what === "taken" && time >= createdAt).at(-1);
  const calls = useQuery({
    ...asked("GET /v1/sources/{id}/calls", { params: { id: sourceId }, query: { limit: NEWEST } }),
    enabled: sent === null && sourceId !== "",
    refetchInterval: ({ state: { data } }) => (data !== undefined && firstOf(data) !== undefined ? false : again()),
    select: firstOf,
  });
  return { messageId: sent ?? calls.data?.messageIds[0] ?? null, isSent: sent !== null, see };
}
