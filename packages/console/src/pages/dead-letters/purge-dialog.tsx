/**
 * Takes dead letters away for good.
 *
 * PD1  The counted dead letters are purged: the plan is started, never the filter.
 * PD2  Above 10,000 their number is typed first.
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Purge, PurgeInput } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import type { DeadLetterFilterKey } from "../../dead-letters/dead-letter-filter.ts";
import { Button } from "../../elements/button.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import elements from "../../elements/elements.module.css";
import { Field } from "../../elements/field.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import type { Filter } from "../../listing/filter.ts";
import { Loaded } from "../../listing/loaded.tsx";
import { MomentText } from "../../moment/moment-text.tsx";
import { countOf } from "../../moment/numbers.ts";

/** PD2. */
const MANY = 10_000;

export interface PurgeDialogProps {
  readonly filter: Filter<DeadLetterFilterKey>;
  readonly onClose: () => void;
}

export function PurgeDialog({ filter, onClose }: PurgeDialogProps) {
  const query = useQuery({
    queryKey: ["POST /v1/dead-letters/purge", filter],
    // Control reports values of the address that do not fit.
    queryFn: ({ signal }) =>
      call("POST /v1/dead-letters/purge", { body: { ...(filter as PurgeInput), dryRun: true }, signal }),
    // A plan holds while the question is open.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <Dialog title="Purge for good?" isOpen onClose={onClose}>
      <Loaded query={query} what="count" rows={2}>
        {(plan) => <Counted plan={plan} onClose={onClose} />}
      </Loaded>
    </Dialog>
  );
}

function Counted({ plan: { plan, matched }, onClose }: { readonly plan: Purge; readonly onClose: () => void }) {
  const client = useQueryClient();
  const [typed, setTyped] = useState("");
  const purging = useMutation({
    mutationFn: () => call("POST /v1/dead-letters/purge", { body: { plan: plan ?? "" } }),
    onSuccess: () => client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith("GET ") }),
  });
  if (purging.data !== undefined) return <Purged purge={purging.data} onClose={onClose} />;
  const isTyped = matched <= MANY || typed.trim() === String(matched);
  return (
    <>
      <p>
        <strong>{countOf(matched)}</strong> {matched === 1 ? "dead letter fits" : "dead letters fit"}. What is purged is
        no more listed, counted or sent again, here or at the terminal. It cannot be undone.
      </p>
      {matched > MANY && (
        <Field label={`Type ${matched}, their number`} value={typed} onChange={setTyped} autoComplete="off" />
      )}
      <div className={elements["actions"]}>
        <Button onPress={onClose}>Keep them</Button>
        <Button
          look="primary"
          isPending={purging.isPending}
          unavailable={plan === null ? "nothing fits" : isTyped ? null : "type their number first"}
          onPress={() => purging.mutate()}
        >
          {`Purge ${countOf(matched)}`}
        </Button>
      </div>
      <Refusal error={purging.error} />
    </>
  );
}

function Purged({
  purge: { matched, bytesKeptUntil },
  onClose,
}: {
  readonly purge: Purge;
  readonly onClose: () => void;
}) {
  return (
    <>
      <p role="status">
        {countOf(matched)} purged.
        {bytesKeptUntil !== null && (
          <>
            {" "}
            Their bytes stay in the topic until <MomentText at={bytesKeptUntil} isShort withDistance />, for whoever
            reads it.
          </>
        )}
      </p>
      <div className={elements["actions"]}>
        <Button autoFocus onPress={onClose}>
          Done
        </Button>
      </div>
    </>
  );
}
