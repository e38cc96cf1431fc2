import type { ReplayStart } from "../../api/api-types.ts";
import styles from "./replay.module.css";

export interface PlanCountsProps {
  readonly counts: ReplayStart["counts"];
  readonly matched: number;
  readonly nameOf: (id: string) => string;
}

/** The counted dead letters, by fault and by type, the largest first. */
export function PlanCounts({ counts, matched, nameOf }: PlanCountsProps) {
  const isOfSeveral = new Set(counts.map(({ destinationId }) => destinationId)).size > 1;
  const reported = counts.reduce((sum, { count }) => sum + count, 0);
  return (
    <section aria-label="By error and type" className={styles["part"]}>
      <h2>By error and type</h2>
      <table className={styles["table"]}>
        <thead>
          <tr>
            {isOfSeveral && <th scope="col">Destination</th>}
            <th scope="col">Error</th>
            <th scope="col">Reason</th>
            <th scope="col">Type</th>
            <th scope="col" className={styles["number"]}>
              Count
            </th>
          </tr>
        </thead>
        <tbody>
          {counts.map(({ destinationId, reason, error, type, count }) => (
            <tr key={JSON.stringify([destinationId, reason, error, type])}>
              {isOfSeveral && <td>{nameOf(destinationId)}</td>}
              <td>{error ?? "none"}</td>
              <td>{reason.replaceAll("_", " ")}</td>
              <td>{type}</td>
              <td className={styles["number"]}>{count.toLocaleString("en-GB")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {reported < matched && (
        <p className={styles["detail"]}>and {(matched - reported).toLocaleString("en-GB")} of smaller groups</p>
      )}
    </section>
  );
}
