/** One audience: its figures, the sync that runs, who is in it, and how the whole of it is handed over. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Audience } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { ApiProblem } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Copied } from "../../elements/copied.tsx";
import elements from "../../elements/elements.module.css";
import { Fact } from "../../elements/fact.tsx";
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
import { RemoveAudienceDialog } from "./remove-audience-dialog.tsx";
import { LastSync, RunningSync } from "./sync-words.tsx";
import { WholeSync } from "./whole-sync.tsx";

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
              <Removal audience={audience} />
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

function Removal({ audience }: { readonly audience: Audience }) {
  const unavailable = useMissingScope("write");
  const [isAsked, setAsked] = useState(false);
  return (
    <div>
      <Button unavailable={unavailable} onPress={() => setAsked(true)}>
        Remove the audience
      </Button>
      {isAsked && <RemoveAudienceDialog audience={audience} onClose={() => setAsked(false)} />}
    </div>
  );
}
