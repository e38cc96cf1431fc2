/** Deletion requests: the users, the progress; and the suppressed users. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import elements from "../../elements/elements.module.css";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { Mark } from "../../verdict/mark.tsx";
import { AskDialog } from "./ask-dialog.tsx";
import { numbered, outcomeOf, REQUEST_STATES, type Request, statesText } from "./deletion-words.ts";
import styles from "./deletions.module.css";
import { SuppressionPart } from "./suppression-part.tsx";

/** Control counts one by one: of a request that has more, its own page tells. */
const MOST_COUNTED = 1000;
const STALE_MS = 30_000;

export function DeletionsPage() {
  const unavailable = useMissingScope("write");
  const [isAsking, setAsking] = useState(false);
  const ask = (
    <Button look="primary" unavailable={unavailable} onPress={() => setAsking(true)}>
      Ask for a deletion
    </Button>
  );
  return (
    <>
      <PageTitle>Deletions</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Deletions</h1>
        {ask}
      </div>
      <p className={styles["detail"]}>
        A deletion request tells the destinations of its sources to delete its users. The newest stands first.
      </p>
      <PagedList
        queryKey={["GET /v1/deletions"]}
        read={({ signal, ...page }) => call("GET /v1/deletions", { query: page, signal })}
        what="deletion requests"
        idOf={({ id }) => id}
        textOf={({ id, users }) => `${id} ${numbered(users, "user")}`}
        linkOf={({ id }) => `/deletions/${encodeURIComponent(id)}`}
        copyOf={({ id }) => id}
        rowClass={styles["request"]}
        empty={
          <Empty action={ask} command="posthaste deletions create --user-id USER">
            No deletion was asked for yet.
          </Empty>
        }
      >
        {(request) => <RequestRow request={request} />}
      </PagedList>
      <SuppressionPart />
      {isAsking && <AskDialog onClose={() => setAsking(false)} />}
    </>
  );
}

function RequestRow({ request }: { readonly request: Request }) {
  const { id, state, users, notifications, suppress, createdAt } = request;
  const isCounted = notifications > 0 && notifications <= MOST_COUNTED;
  const { data } = useQuery({
    ...asked("GET /v1/deletions/{id}", { params: { id } }),
    enabled: isCounted,
    staleTime: STALE_MS,
  });
  const [words, sentTone] = REQUEST_STATES[state];
  // By its outcome, where that is known; the words stay, so that nothing moves.
  const tone = data === undefined || !isCounted ? sentTone : outcomeOf(data)[1];
  return (
    <>
      <MomentText at={createdAt} withDistance />
      <code>{id}</code>
      <span>
        {numbered(users, "user")} <Mark tone={tone}>{words}</Mark>
      </span>
      <span className={styles["detail"]}>
        {numbered(notifications, "notification")}
        {data !== undefined && isCounted && `: ${statesText(data.states)}`}
      </span>
      <span className={styles["detail"]}>{suppress ? "suppressed" : "not suppressed"}</span>
    </>
  );
}
