import { useQuery } from "@tanstack/react-query";
import type { EventPage, SourceCalls } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { CopiedId } from "../../elements/copied.tsx";
import type { Column } from "../../listing/column.ts";
import { Awaited, Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { toggleLive, useLiveState, usePausable } from "../../live/live.ts";
import { Ago } from "../../moment/moment-text.tsx";
import { countOf, rateOf } from "../../moment/numbers.ts";
import { EventName, eventName } from "../../names/event-name.tsx";
import { useNaming } from "../../names/names.ts";
import { Snippets } from "../../snippets/snippets.tsx";
import { shareOf } from "../../status/health-words.ts";
import { causeWords } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./sources-page.module.css";

type Call = SourceCalls["data"][number];

type Event = EventPage["data"][number];

/** Calls come a moment after they were taken, for as long as somebody asks. */
const LOOK_MS = 1000;

const COUNTS_MS = 5000;

const VERDICTS = 50;

/** Of the destinations that one call went to. */
const MOST_NAMED = 2;

export interface CallsPartProps {
  readonly sourceId: string;
  readonly writeKey: string;
}

/** The source's recent calls: the outcome, and for rejected ones the reason and the remedy. */
export function CallsPart({ sourceId, writeKey }: CallsPartProps) {
  const verdictOf = useVerdicts(sourceId);
  return (
    <section className={`${styles["part"]} ${styles["callsPart"]}`} aria-label="Calls">
      <div className={styles["head"]}>
        <h2>Calls</h2>
        <PauseButton />
      </div>
      <Counts sourceId={sourceId} />
      <PagedList
        queryKey={["GET /v1/sources/{id}/calls", sourceId]}
        read={async ({ limit, signal }) => {
          const read = await call("GET /v1/sources/{id}/calls", { params: { id: sourceId }, query: { limit }, signal });
          return { ...read, nextCursor: null };
        }}
        lookMs={LOOK_MS}
        what="calls"
        idOf={({ id }) => id}
        textOf={({ what, type, event, code }) => `${what} ${type ?? ""} ${event ?? ""} ${code ?? ""}`}
        linkOf={({ messageIds: [messageId] }) =>
          messageId === undefined ? null : `/events/${encodeURIComponent(messageId)}`
        }
        copyOf={({ id, messageIds: [messageId] }) => messageId ?? id}
        columns={columnsOf(verdictOf)}
        className={styles["calls"]}
        empty={
          <>
            <Empty command={`posthaste sources sample ${sourceId}`}>
              No call came yet. Send one from your own program:
            </Empty>
            <Snippets writeKey={writeKey} />
          </>
        }
      />
    </section>
  );
}

function columnsOf(verdictOf: (messageId: string | undefined) => Event | undefined): readonly Column<Call>[] {
  return [
    { key: "event", heading: "Event", narrow: "title", wholeOf: callName, cell: (each) => <CallName call={each} /> },
    { key: "user", heading: "User", narrow: "labelled", wholeOf: userOf, cell: userOf },
    {
      ...{ key: "state", heading: "State", narrow: "line" },
      wholeOf: ({ advice }) => advice ?? undefined,
      cell: (each) => <CallState call={each} verdict={verdictOf(each.messageIds[0])} />,
    },
    { key: "time", heading: "Received", narrow: "side", cell: ({ time }) => <Ago at={time} /> },
    {
      ...{ key: "id", heading: "Message ID", narrow: "hidden" },
      cell: ({ messageIds: [id] }) => id !== undefined && <CopiedId what="message id" id={id} />,
    },
  ];
}

function userOf({ userKey }: Call): string {
  return userKey ?? "";
}

function callName({ type, event, path, bytes }: Call): string {
  if (type !== null) return eventName({ type, event });
  return `${path ?? "request"}${bytes === null ? "" : ` ${countOf(bytes)} B`}`;
}

function CallName({ call: reported }: { readonly call: Call }) {
  const { type, event } = reported;
  return type === null ? callName(reported) : <EventName type={type} event={event} />;
}

function CallState({ call: reported, verdict }: { readonly call: Call; readonly verdict: Event | undefined }) {
  const { what, code, status, advice } = reported;
  if (what !== "taken") {
    return (
      <>
        <Mark tone="bad">{[what, status, code].filter((each) => each !== null).join(" ")}</Mark>{" "}
        <span className={styles["detail"]}>{advice}</span>
      </>
    );
  }
  return (
    <>
      <Mark tone={verdict === undefined ? "good" : causeWords(verdict.cause).tone}>
        {verdict === undefined ? "accepted" : causeWords(verdict.cause).words}
      </Mark>{" "}
      <Targets ids={verdict?.destinationIds ?? []} />
    </>
  );
}

/** Counts of the last hour, with advice about the rejected calls. */
function Counts({ sourceId }: Pick<CallsPartProps, "sourceId">) {
  const { data, isPending } = useQuery({
    ...asked("GET /v1/sources/{id}/calls", { params: { id: sourceId }, query: { limit: 1 } }),
    refetchInterval: usePausable(COUNTS_MS),
  });
  if (isPending) return <Awaited />;
  if (data === undefined) return null;
  const { accepted, perSecond, rejected, refused } = data.counts;
  const missed = [
    ...refused.map((each) => ["refused", each] as const),
    ...rejected.map((each) => ["rejected", each] as const),
  ];
  const missing = missed.reduce((sum, [, { count }]) => sum + count, 0);
  return (
    <>
      <p>
        In the last hour <strong>{countOf(accepted)}</strong> accepted, now <strong>{rateOf(perSecond)}/s</strong>
        {missing === 0 ? ", none refused" : `; not accepted ${shareOf(missing / (accepted + missing))}`}
      </p>
      {missed.length > 0 && (
        <ul aria-label="Not accepted">
          {missed.map(([what, { code, count, advice }]) => (
            <li key={`${what} ${code}`}>
              <Mark tone="bad">{`${what}: ${code} × ${countOf(count)}`}</Mark> {advice}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Its first destinations by their names, and the number of the others. */
function Targets({ ids }: { readonly ids: readonly string[] }) {
  const { nameOf, isSettled } = useNaming();
  if (ids.length === 0 || !isSettled) return <span className={styles["targets"]} />;
  const others = ids.length - MOST_NAMED;
  const named = ids.slice(0, MOST_NAMED).map(nameOf).join(", ");
  return <span className={styles["targets"]}>{`→ ${named}${others > 0 ? ` and ${countOf(others)} more` : ""}`}</span>;
}

/** By message id, the verdicts of the newest events of the source. */
function useVerdicts(sourceId: string): (messageId: string | undefined) => Event | undefined {
  const { data } = useQuery({
    ...asked("GET /v1/events", { query: { sourceId, limit: VERDICTS } }),
    refetchInterval: usePausable(COUNTS_MS),
    retry: false,
  });
  const byId = new Map(data?.data.map((event) => [event.messageId, event]));
  return (messageId) => (messageId === undefined ? undefined : byId.get(messageId));
}

/** Beside a live list: it does the same as the dot above the page. */
function PauseButton() {
  const { state } = useLiveState();
  const isPaused = state === "paused";
  return (
    <Button
      look="quiet"
      aria-label={isPaused ? "Go on with what comes live" : "Pause what comes live"}
      onPress={toggleLive}
    >
      {isPaused ? "Go on" : "Pause"}
    </Button>
  );
}
