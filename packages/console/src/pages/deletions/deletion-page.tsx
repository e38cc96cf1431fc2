/** A deletion request: how far it is, by source and by notification. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { DeletionStatus } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { Copied } from "../../elements/copied.tsx";
import elements from "../../elements/elements.module.css";
import { Freshness } from "../../listing/freshness.tsx";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { usePausable } from "../../live/live.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf, numbered } from "../../moment/numbers.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { Mark } from "../../verdict/mark.tsx";
import { NOTIFICATION_STATES, outcomeOf, STATE_NAMES } from "./deletion-words.ts";
import styles from "./deletions.module.css";
import { NotificationList } from "./notification-list.tsx";
import { SourceStates } from "./source-states.tsx";

/** While the notifications have not all come to an end. */
const AGAIN_MS = 5000;

export function DeletionPage() {
  const { deletionId } = useParams({ from: "/deletions/$deletionId" });
  const againMs = usePausable(AGAIN_MS);
  const query = useQuery({
    ...asked("GET /v1/deletions/{id}", { params: { id: deletionId } }),
    refetchInterval: ({ state }) => (state.data === undefined || isSettled(state.data) ? false : againMs),
  });
  return (
    <>
      <PageTitle>{`Deletion ${deletionId}`}</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Deletion {deletionId}</h1>
        <a href="/deletions">All deletions</a>
      </div>
      <Loaded
        query={query}
        what="deletion request"
        rows={3}
        gone={
          <Empty action={<a href="/deletions">All deletions</a>} command="posthaste deletions list">
            There is no deletion request with this id.
          </Empty>
        }
      >
        {(request) => <Standing request={request} />}
      </Loaded>
    </>
  );
}

function isSettled({ state, notifications, states: { delivered, dead } }: DeletionStatus): boolean {
  return state === "sent" && delivered + dead >= notifications;
}

function Standing({ request }: { readonly request: DeletionStatus }) {
  const { id, users, sourceIds, notifications, states, createdAt, sentAt, asOf, complete } = request;
  const [words, tone] = outcomeOf(request);
  return (
    <div data-state="live" className={styles["asked"]}>
      <p>
        <Mark tone={tone}>{words}</Mark> · {numbered(users, "user")} of {numbered(sourceIds.length, "source")}, asked
        for <MomentText at={createdAt} withDistance />
        {sentAt !== null && (
          <>
            , sent <MomentText at={sentAt} />
          </>
        )}
      </p>
      <p>
        {request.suppress ? "The users were suppressed" : "Nobody was suppressed: what comes is delivered as before."}
        {request.suppress && <SuppressionEnd at={request.suppressionEndsAt} />}
      </p>
      <dl className={styles["facts"]} aria-label="Notifications">
        {STATE_NAMES.map((name) => (
          <div key={name}>
            <dt>
              <Mark tone={NOTIFICATION_STATES[name][1]}>{NOTIFICATION_STATES[name][0]}</Mark>
            </dt>
            <dd>{countOf(states[name])}</dd>
          </div>
        ))}
      </dl>
      <Freshness asOf={asOf} complete={complete} />
      <Copied what="command" text={`posthaste deletions get ${id} --notifications`} />
      <SourceStates key={id} request={request} />
      <section aria-labelledby="notifications">
        <h2 id="notifications">{numbered(notifications, "notification")}, user by user</h2>
        <NotificationList id={id} />
      </section>
    </div>
  );
}

function SuppressionEnd({ at }: { readonly at: string | null }) {
  if (at === null) return " for good, until it is ended by hand.";
  return (
    <>
      , until <MomentText at={at} withDistance />, or until it is ended by hand.
    </>
  );
}
