/**
 * The verdicts of the events under a message id, the reasons, and the remedies: of its page, and of the panel over a
 * list.
 */
import { useQuery } from "@tanstack/react-query";
import { useAgain } from "../../api/again.ts";
import type { EventVerdict } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { CopyButton } from "../../elements/copied.tsx";
import { Fact } from "../../elements/fact.tsx";
import { searchOf } from "../../listing/filter.ts";
import { Freshness } from "../../listing/freshness.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { useLive, useLiveState } from "../../live/live.ts";
import { useThrottled } from "../../live/throttled.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { useNames, useNaming } from "../../names/names.ts";
import { quoted } from "../../terminal/quoted.ts";
import { verdictWords } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import { Sentence } from "../../verdict/sentence.tsx";
import { DestinationVerdict } from "./destination-verdict.tsx";
import styles from "./event-page.module.css";
import { EventTabs } from "./event-tabs.tsx";
import { OtherFinds } from "./other-finds.tsx";
import { onlyWaiting, Remedy, turnedOnAbove } from "./remedy.tsx";
import { TopicSearch } from "./topic-search.tsx";

/** A delivery that waits or is under way is looked at again; the live stream tells of its end sooner. */
const AGAIN = { leastMs: 5000, mostMs: 60_000 };
const LEAST_BETWEEN_MS = 500;

export function EventView({ messageId }: { readonly messageId: string }) {
  const { state: live } = useLiveState();
  const nameOf = useNames();
  const again = useAgain(AGAIN);
  const query = useQuery({
    ...asked("GET /v1/events/{messageId}", { params: { messageId } }),
    refetchInterval: ({ state }) => (isSettled(state.data) || live === "paused" ? false : again()),
  });
  const look = useThrottled(() => query.refetch(), LEAST_BETWEEN_MS);
  useLive({ topics: ["deliveries"], filter: { messageId }, onRows: look, onGap: look });
  return (
    <Loaded
      query={query}
      what="verdict"
      isEmpty={({ cause, events, complete }) => complete && cause === "unknown" && events.length === 0}
      empty={
        <Empty
          command={`posthaste events scan ${quoted(messageId)}`}
          action={
            <>
              <OtherFinds text={messageId} />
              <TopicSearch messageId={messageId} nameOf={nameOf} />
            </>
          }
        >
          {query.data?.sentence ?? ""}
        </Empty>
      }
    >
      {(verdict) => <Verdict verdict={verdict} />}
    </Loaded>
  );
}

function isSettled(verdict: EventVerdict | undefined): boolean {
  return verdict !== undefined && verdictWords(verdict).tone !== "waiting" && verdict.cause !== "unknown";
}

function Verdict({ verdict }: { readonly verdict: EventVerdict }) {
  const { nameOf, isSettled } = useNaming();
  const { words, tone } = verdictWords(verdict);
  const above = { isSentAbove: onlyWaiting(verdict) !== null, turnedOnAbove: turnedOnAbove(verdict) };
  return (
    <>
      <section className={styles["verdict"]} aria-label="Verdict" data-state="live">
        <Mark tone={tone}>{words}</Mark>
        <p className={styles["sentence"]}>
          <Sentence>{verdict.sentence}</Sentence>
        </p>
        {isSettled && <Remedy verdict={verdict} nameOf={nameOf} />}
      </section>
      {isSettled && (
        <>
          {verdict.events.map((event) => (
            <EventFacts key={keyOf(event)} event={event} messageId={verdict.messageId} nameOf={nameOf} {...above} />
          ))}
          {verdict.nextCursor !== null && (
            <p>
              The first 100 destinations that lack it are listed here. <code>posthaste events why</code> lists them all.
            </p>
          )}
          <Freshness asOf={verdict.asOf} complete={verdict.complete} />
        </>
      )}
    </>
  );
}

type Event = EventVerdict["events"][number];

interface EventFactsProps {
  readonly event: Event;
  readonly messageId: string;
  readonly nameOf: (id: string) => string;
  /** A waiting delivery is sent by the verdict's own button. */
  readonly isSentAbove: boolean;
  /** The destination that the verdict's own button turns on. */
  readonly turnedOnAbove: string | null;
}

function EventFacts({ event, messageId, nameOf, isSentAbove, turnedOnAbove: above }: EventFactsProps) {
  const { type, event: name, sourceId, userKey, receivedAt, destinations, deletion } = event;
  return (
    <article className={styles["event"]}>
      <h2>{[type, name].filter((each) => each !== null).join(" · ") || "A call that was not taken"}</h2>
      <dl className={styles["facts"]}>
        <Fact name="Received">{receivedAt === null ? "not known" : <MomentText at={receivedAt} withDistance />}</Fact>
        <Fact name="Source">
          <a href={`/sources/${sourceId}`}>{nameOf(sourceId)}</a> <CopyButton what="source id" text={sourceId} />
        </Fact>
        {userKey !== null && (
          <Fact name="User">
            <a href={`/events${searchOf({ userId: userKey })}`}>{userKey}</a>{" "}
            <CopyButton what="user id" text={userKey} />
          </Fact>
        )}
        {deletion !== null && (
          <Fact name="Stopped by">
            the deletion <a href={`/deletions/${encodeURIComponent(deletion.id)}`}>{deletion.id}</a> of{" "}
            <MomentText at={deletion.requestedAt} withDistance />
            {deletion.ended && ", which has ended since"}
          </Fact>
        )}
      </dl>
      {destinations.length > 0 && (
        <>
          <h3>Destinations</h3>
          <ul className={styles["destinations"]}>
            {destinations.map((each) => (
              <DestinationVerdict
                key={each.destinationId}
                verdict={each}
                messageId={messageId}
                sourceId={sourceId}
                name={nameOf(each.destinationId)}
                isSentAbove={isSentAbove}
                isTurnedOnAbove={each.destinationId === above}
              />
            ))}
          </ul>
        </>
      )}
      <EventTabs event={event} messageId={messageId} nameOf={nameOf} />
    </article>
  );
}

/** Two sources may share a message id, and a repeat has another place. */
function keyOf({ sourceId, origin, receivedAt, cause }: Event): string {
  return JSON.stringify([sourceId, origin, receivedAt, cause]);
}
