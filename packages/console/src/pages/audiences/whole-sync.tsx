import { Copied } from "../../elements/copied.tsx";
import styles from "./audiences.module.css";

/** The lines for a terminal that hand over the whole audience: a file of millions does not go through a page. */
export function WholeSync({ audienceId }: { readonly audienceId: string }) {
  return (
    <section className={styles["part"]} aria-label="Whole sync">
      <h2>Sync the whole of it</h2>
      <p>
        With a file of all its users, one a line: <code>"user-7"</code>, <code>17</code> or{" "}
        <code>{'{"userId": "user-7"}'}</code>. Who is not in the file is taken out; a file that breaks off changes
        nobody.
      </p>
      <Copied what="command" text={`posthaste audiences sync ${audienceId} members.ndjson`} />
      <Copied what="curl command" text={curlOf(audienceId)} />
    </section>
  );
}

function curlOf(audienceId: string): string {
  return [
    'curl -H "Authorization: Bearer $POSTHASTE_ADMIN_TOKEN"',
    "-H 'Content-Type: application/x-ndjson' -T members.ndjson",
    `${location.origin}/v1/audiences/${audienceId}/members`,
  ].join(" ");
}
