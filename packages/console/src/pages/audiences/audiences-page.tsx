/** Lists of users that a customer's own system keeps, and values of users that it works out. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { asked } from "../../api/asked.ts";
import { Button } from "../../elements/button.tsx";
import elements from "../../elements/elements.module.css";
import { Empty } from "../../listing/loaded.tsx";
import { usePausable } from "../../live/live.ts";
import { countOf } from "../../moment/numbers.ts";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { AudienceList, ComputedTraitList } from "./audience-list.tsx";
import styles from "./audiences.module.css";
import { NewAudienceDialog } from "./new-audience-dialog.tsx";

const AGAIN_MS = 5000;

export function AudiencesPage() {
  const unavailable = useMissingScope("write");
  const [isMaking, setMaking] = useState(false);
  const create = (
    <Button look="primary" unavailable={unavailable} onPress={() => setMaking(true)}>
      New audience
    </Button>
  );
  return (
    <>
      <PageTitle>Audiences</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Audiences</h1>
        {create}
      </div>
      <div className={styles["parts"]}>
        <section aria-label="Audiences">
          <IdentifiesWaiting />
          <AudienceList
            empty={
              <Empty action={create} command="posthaste audiences create --name 'VIP customers' --source-id SOURCE">
                There is no audience yet: a list of users that your own system keeps, told as a trait when it changes.
              </Empty>
            }
          />
        </section>
        <section aria-labelledby="computed-traits">
          <h2 id="computed-traits">Computed traits</h2>
          <ComputedTraitList
            empty={
              <Empty command="posthaste traits put lifetime_value values.ndjson --source-id SOURCE">
                There is no computed trait yet: the first values that are sent make one.
              </Empty>
            }
          />
        </section>
      </div>
      {isMaking && <NewAudienceDialog onClose={() => setMaking(false)} />}
    </>
  );
}

/** Every audience gives the figure of all of them together: the first is asked. */
function IdentifiesWaiting() {
  const refetchInterval = usePausable(AGAIN_MS);
  const oldest = useQuery({ ...asked("GET /v1/audiences", { query: { limit: 1 } }), refetchInterval });
  const first = oldest.data?.data[0];
  const { data } = useQuery({
    ...asked("GET /v1/audiences/{id}", { params: { id: first?.id ?? "" } }),
    enabled: first !== undefined,
    refetchInterval,
  });
  if (data === undefined) return null;
  return (
    <p className={styles["detail"]}>
      Identifies waiting, of all audiences: <span className={styles["figure"]}>{countOf(data.identifiesWaiting)}</span>
    </p>
  );
}
