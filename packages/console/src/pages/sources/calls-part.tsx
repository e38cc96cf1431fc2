import { useQuery } from "@tanstack/react-query";
import type { EventPage, SourceCalls } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Awaited, Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { toggleLive, useLiveState, usePausable } from "../../live/live.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf, rateOf } from "../../moment/numbers.ts";
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
    <section className={`${styles["part"]} ${styles["calls"]}`} aria-label="Calls">
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
        rowClass={styles["call"]}
        empty={
          <>
            <Empty command={`posthaste sources sample ${sourceId}`}>
              No call came yet. Send one from your own program:
            </Empty>
            <Snippets writeKey={writeKey} />
          </>
        }
      >
        {(each) => <CallRow call={each} verdict={verdictOf(each.messageIds[0])} />}
      </PagedList>
    </section>
  );
}

function CallRow({ call: reported, verdict }: { readonly call: Call; readonly verdict: Event | undefined }) {
  const { time, what, code, status, advice, type, event, userKey, messageIds, path, bytes } = reported;
  return (
    <>
      <MomentText at={time} />
      <span>
        {type === null
          ? `${path ?? "a request"} ${bytes === null ? "" : `${countOf(bytes)} B`}`
          : `${type} ${event ?? ""}`}
      </span>
      <span className={styles["detail"]}>{userKey === null ? "" : `user ${userKey}`}</span>
      <span>
        {what === "taken" ? (
          <>
            <Mark tone={verdict === undefined ? "good" : causeWords(verdict.cause).tone}>
              {verdict === undefined ? "taken" : causeWords(verdict.cause).words}
            </Mark>
            <Targets ids={verdict?.destinationIds ?? []} />
          </>
        ) : (
          <Mark tone="bad">{[what, status, code].filter((each) => each !== null).join(" ")}</Mark>
        )}
      </span>
      <code className={styles["detail"]}>{messageIds[0] ?? ""}</code>
      {advice !== null && <span className={styles["advice"]}>{advice}</span>}
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
        In the last hour <strong>{countOf(accepted)}</strong> taken, now <strong>{rateOf(perSecond)}/s</strong>
        {missing === 0 ? ", none refused" : `; not taken ${shareOf(missing / (accepted + missing))}`}
      </p>
      {missed.length > 0 && (
        <ul aria-label="Not taken">
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

/** Where it went to: its first destinations by their names, and how many others. Its line is there before they are. */
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
