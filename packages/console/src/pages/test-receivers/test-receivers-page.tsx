/** Receivers in control's own memory: their requests and their answers. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { TestReceiver } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import elements from "../../elements/elements.module.css";
import { Refusal } from "../../elements/refusal.tsx";
import { searchOf } from "../../listing/filter.ts";
import { Empty, Loaded } from "../../listing/loaded.tsx";
import { usePausable } from "../../live/live.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useNames } from "../../names/names.ts";
import { ConnectLink } from "../../session/connect-link.tsx";
import { useMissingScope } from "../../session/session.ts";
import { PageTitle } from "../../status/page-title.tsx";
import { areOff } from "./are-off.ts";
import { ReceiverPart } from "./receiver-part.tsx";
import styles from "./test-receivers.module.css";

const AGAIN_MS = 5000;

export function TestReceiversPage() {
  const { id } = useSearch({ from: "/test-receivers" });
  const query = useQuery({ ...asked("GET /v1/test-receivers", {}), refetchInterval: usePausable(AGAIN_MS) });
  const isOff = query.data === undefined && areOff(query.error);
  const create = <CreateReceiver />;
  return (
    <>
      <PageTitle>Test receivers</PageTitle>
      <div className={elements["pageHead"]}>
        <h1>Test receivers</h1>
        {!isOff && create}
      </div>
      {isOff ? (
        <Off />
      ) : (
        <Loaded
          query={query}
          what="test receivers"
          isNamed
          isEmpty={({ data }) => data.length === 0}
          empty={
            <Empty action={create} command="posthaste listen">
              There is no test receiver: a URL in this installation that takes whatever is sent to it, and shows it.
            </Empty>
          }
        >
          {({ data }) => {
            const newest = [...data].sort((a, b) => b.createdAt.localeCompare(a.createdAt));
            const shown = id === undefined ? newest[0] : newest.find((each) => each.id === id);
            return (
              <div data-state="live" className={styles["page"]}>
                {shown === undefined && (
                  <p role="status">This test receiver is no more: control forgets them when it starts anew.</p>
                )}
                {(newest.length > 1 || shown === undefined) && <Choices receivers={newest} shownId={shown?.id ?? ""} />}
                {shown !== undefined && <ReceiverPart key={shown.id} receiver={shown} />}
              </div>
            );
          }}
        </Loaded>
      )}
    </>
  );
}

/** As an installation is that others use. */
function Off() {
  return (
    <Empty action={<ConnectLink />} command="posthaste listen --help">
      Test receivers are off here: they are for one's own machine, where control has POSTHASTE_TEST_RECEIVER=true.
    </Empty>
  );
}

function CreateReceiver() {
  const client = useQueryClient();
  const unavailable = useMissingScope("write");
  const making = useMutation({
    mutationFn: () => call("POST /v1/test-receivers", { body: {} }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["GET /v1/test-receivers"] }),
  });
  return (
    <>
      <Button look="primary" isPending={making.isPending} unavailable={unavailable} onPress={() => making.mutate()}>
        New test receiver
      </Button>
      <Refusal error={making.error} />
    </>
  );
}

interface ChoicesProps {
  readonly receivers: readonly TestReceiver[];
  readonly shownId: string;
}

function Choices({ receivers, shownId }: ChoicesProps) {
  const nameOf = useNames();
  return (
    <ul className={styles["choices"]} aria-label="All of them">
      {receivers.map(({ id, destinationId, createdAt, received }) => (
        <li key={id}>
          <a href={`/test-receivers${searchOf({ id })}`} aria-current={id === shownId ? "true" : undefined}>
            {destinationId === null ? id : nameOf(destinationId)}
          </a>{" "}
          <span className={styles["detail"]}>
            {countOf(received)} received, since <MomentText at={createdAt} isShort />
          </span>
        </li>
      ))}
    </ul>
  );
}
