/** One audience: its figures, the sync that runs, who is in it, and how the whole of it is handed over. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams, useRouter } from "@tanstack/react-router";
import type { Audience } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { ApiProblem, call } from "../../api/client.ts";
import { Copied } from "../../elements/copied.tsx";
import elements from "../../elements/elements.module.css";
import { Fact } from "../../elements/fact.tsx";
import { Removal } from "../../elements/removal.tsx";
import { searchOf } from "../../listing/filter.ts";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { useLiveState } from "../../live/live.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useNames } from "../../names/names.ts";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import styles from "./audiences.module.css";
import { MembersPart } from "./members-part.tsx";
import { LastSync, RunningSync } from "./sync-words.tsx";

/** While a sync runs, and while none does. */
const [SYNCING_MS, QUIET_MS] = [1000, 5000];

export function AudiencePage() {
  const { audienceId } = useParams({ from: "/audiences/$audienceId" });
  const { state } = useLiveState();
  const query = useQuery({
    ...asked("GET /v1/audiences/{id}", { params: { id: audienceId } }),
    refetchInterval: ({ state: { data } }) =>
      state === "paused" || data === undefined ? false : data.syncing === null ? QUIET_MS : SYNCING_MS,
  });
  const { data, error } = query;
  const isGone = error instanceof ApiProblem && error.status === 404;
  return (
    <>
      <PageTitle>{data?.name ?? audienceId}</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>{data?.name ?? audienceId}</h1>
      </div>
      {isGone ? (
        <Empty action={<a href="/audiences">All audiences</a>} command={`posthaste audit --target ${audienceId}`}>
          There is no such audience any more.
        </Empty>
      ) : (
        <Loaded query={query} what="audience" isNamed>
          {(audience) => (
            <div data-state="live" className={styles["parts"]}>
              <Figures audience={audience} />
              <MembersPart key={audienceId} audienceId={audienceId} />
              <WholeSync audienceId={audienceId} />
              <p>
                <a href={`/activity${searchOf({ target: audienceId })}`}>Its changes</a>
              </p>
              <RemoveAudience audience={audience} />
            </div>
          )}
        </Loaded>
      )}
    </>
  );
}

function Figures({ audience }: { readonly audience: Audience }) {
  const nameOf = useNames();
  const { id, trait, sourceId, size, syncing, lastSync, createdAt, identifiesWaiting } = audience;
  return (
    <section aria-label="Figures" className={styles["now"]}>
      <p>
        {syncing === null ? (
          <>
            Last sync: <LastSync lastSync={lastSync} />
          </>
        ) : (
          <RunningSync syncing={syncing} />
        )}
      </p>
      <dl className={styles["figures"]}>
        <Fact name="Users">{countOf(size)}</Fact>
        <Fact name="Trait">
          <Copied what="trait" text={trait} />
        </Fact>
        <Fact name="Source">
          <a href={`/sources/${sourceId}`}>{nameOf(sourceId)}</a>
        </Fact>
        <Fact name="Identifies waiting, of all audiences">{countOf(identifiesWaiting)}</Fact>
        <Fact name="Made">
          <MomentText at={createdAt} withDistance isShort />
        </Fact>
        <Fact name="Id">
          <Copied what="audience id" text={id} />
        </Fact>
      </dl>
      {syncing !== null && lastSync !== null && (
        <p className={styles["detail"]}>
          The one before: <LastSync lastSync={lastSync} />
        </p>
      )}
    </section>
  );
}

function RemoveAudience({ audience: { id, name, trait, size } }: { readonly audience: Audience }) {
  const client = useQueryClient();
  const router = useRouter();
  return (
    <Removal
      {...{ noun: "audience", name, unavailable: useMissingScope("write") }}
      remove={() => call("DELETE /v1/audiences/{id}", { params: { id } })}
      onRemoved={async () => {
        router.history.push("/audiences");
        await client.invalidateQueries({ queryKey: ["GET /v1/audiences"] });
      }}
    >
      Destinations are not told: of {countOf(size)} users they keep <code>{trait}: true</code>, unless the audience is
      emptied by a sync before. What still waits to be told is dropped, and who was in it is forgotten: one of the same
      name that is made later begins with nobody.
    </Removal>
  );
}

/** The lines for a terminal that hand over the whole audience: a file of millions does not go through a page. */
function WholeSync({ audienceId }: { readonly audienceId: string }) {
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
