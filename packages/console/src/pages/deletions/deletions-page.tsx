/** Deletion requests: the users, the progress; and the suppressed users. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import elements from "../../elements/elements.module.css";
import type { Column } from "../../listing/column.ts";
import { Empty } from "../../listing/loaded.tsx";
import { PagedList } from "../../listing/paged-list.tsx";
import { Ago } from "../../moment/moment-text.tsx";
import { countOf, numbered } from "../../moment/numbers.ts";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { Mark } from "../../verdict/mark.tsx";
import { AskDialog } from "./ask-dialog.tsx";
import { outcomeOf, REQUEST_STATES, type Request, statesText } from "./deletion-words.ts";
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
        columns={COLUMNS}
        className={styles["requests"]}
        empty={
          <Empty action={ask} command="posthaste deletions create --user-id USER">
            No deletion was asked for yet.
          </Empty>
        }
      />
      <SuppressionPart />
      {isAsking && <AskDialog onClose={() => setAsking(false)} />}
    </>
  );
}

const COLUMNS: readonly Column<Request>[] = [
  { key: "id", heading: "Request", narrow: "title", wholeOf: ({ id }) => id, cell: ({ id }) => <code>{id}</code> },
  { key: "users", heading: "Users", narrow: "labelled", isFigure: true, cell: ({ users }) => countOf(users) },
  { key: "state", heading: "State", narrow: "line", cell: (request) => <State request={request} /> },
  {
    ...{ key: "notifications", heading: "Notifications", narrow: "labelled" },
    cell: (request) => <Notifications request={request} />,
  },
  {
    ...{ key: "suppressed", heading: "Suppressed", narrow: "labelled" },
    cell: ({ suppress }) => (suppress ? "yes" : "no"),
  },
  { key: "created", heading: "Created", narrow: "side", cell: ({ createdAt }) => <Ago at={createdAt} /> },
];

function useStatus({ id, notifications }: Request) {
  return useQuery({
    ...asked("GET /v1/deletions/{id}", { params: { id } }),
    enabled: notifications > 0 && notifications <= MOST_COUNTED,
    staleTime: STALE_MS,
  }).data;
}

/** By its outcome, where that is known; the words stay, so that nothing moves. */
function State({ request }: { readonly request: Request }) {
  const status = useStatus(request);
  const [words, tone] = REQUEST_STATES[request.state];
  return <Mark tone={status === undefined ? tone : outcomeOf(status)[1]}>{words}</Mark>;
}

function Notifications({ request }: { readonly request: Request }) {
  const status = useStatus(request);
  return (
    <>
      {countOf(request.notifications)}
      {status !== undefined && <span className={styles["detail"]}>{`: ${statesText(status.states)}`}</span>}
    </>
  );
}
