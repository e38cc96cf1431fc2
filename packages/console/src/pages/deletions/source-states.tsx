import { useQuery } from "@tanstack/react-query";
import type { DeletionStatus } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Loaded } from "../../listing/loaded.tsx";
import { countOf } from "../../moment/numbers.ts";
import { everyPage, useNames } from "../../names/names.ts";
import { NOTIFICATION_STATES, type Notification, STATE_NAMES } from "./deletion-words.ts";
import styles from "./deletions.module.css";

/** The most that one page may hold; and the most notifications that are read to be told by source. */
const [PAGE, MOST] = [200, 1000];

/** The notifications of each source by state; of a request with too many for that, its list tells each. */
export function SourceStates({ request }: { readonly request: DeletionStatus }) {
  const { id, notifications, states } = request;
  const query = useQuery({
    // Read anew when the counts of all are others.
    queryKey: ["GET /v1/deletions/{id}/notifications", id, "all", states],
    queryFn: ({ signal }) =>
      everyPage<Notification>((cursor) =>
        call("GET /v1/deletions/{id}/notifications", { params: { id }, query: { limit: PAGE, cursor }, signal }),
      ),
    enabled: notifications <= MOST,
    placeholderData: (before) => before,
  });
  return (
    <section aria-labelledby="sources">
      <h2 id="sources">By source</h2>
      {notifications > MOST ? (
        <p className={styles["detail"]}>
          More than {countOf(MOST)} notifications are not told by source here; the list below has each.
        </p>
      ) : (
        <Loaded query={query} what="states by source" rows={2} isNamed>
          {(all) => <SourceTable sourceIds={request.sourceIds} notifications={all} />}
        </Loaded>
      )}
    </section>
  );
}

interface SourceTableProps {
  readonly sourceIds: readonly string[];
  readonly notifications: readonly Notification[];
}

function SourceTable({ sourceIds, notifications }: SourceTableProps) {
  const nameOf = useNames();
  return (
    <table className={styles["table"]}>
      <thead>
        <tr>
          <th scope="col">Source</th>
          {STATE_NAMES.map((state) => (
            <th key={state} scope="col">
              {NOTIFICATION_STATES[state][0]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {sourceIds.map((sourceId) => {
          const own = notifications.filter((each) => each.sourceId === sourceId);
          return (
            <tr key={sourceId}>
              <th scope="row">{nameOf(sourceId)}</th>
              {own.length === 0 ? (
                <td colSpan={STATE_NAMES.length}>nobody is told: it had no destination that was on</td>
              ) : (
                STATE_NAMES.map((state) => <td key={state}>{countOf(own.filter((n) => n.state === state).length)}</td>)
              )}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
