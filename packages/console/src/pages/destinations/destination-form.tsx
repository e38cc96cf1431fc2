/**
 * Keeps TD1 and TD2 of conflict-dialog.tsx, and TD3 of revised-draft.ts; what is typed is the page's, since the form
 * goes when another of its tabs is looked at.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { ApiProblem, call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import elements from "../../elements/elements.module.css";
import { Refusal } from "../../elements/refusal.tsx";
import { ConflictDialog } from "../../revision/conflict-dialog.tsx";
import { type RevisedDraft, useRevisedDraft } from "../../revision/revised-draft.ts";
import { useMissingScope } from "../../session/session.ts";
import { conflictFields, type DestinationDraft, draftOf, patchOf } from "./destination-draft.ts";
import { DestinationFields } from "./destination-fields.tsx";
import { TurnOffDialog } from "./turn-off-dialog.tsx";

const FORM = { draftOf, patchOf };

type Revised = RevisedDraft<Destination, DestinationDraft>;

/** For the page that has the form. */
export function useDestinationDraft(destination: Destination): Revised {
  return useRevisedDraft(destination, FORM);
}

/** What may be changed of a destination. */
export function DestinationForm({ revised }: { readonly revised: Revised }) {
  const missingScope = useMissingScope("write");
  const { opened, draft, isChanged, setDraft } = revised;
  const [isTurningOff, setTurningOff] = useState(false);
  const saving = useSaving(revised);
  const unavailable = missingScope ?? (isChanged ? null : "nothing is changed");
  return (
    <>
      <Form
        className={elements["form"] ?? ""}
        onSubmit={(event) => {
          event.preventDefault();
          if (unavailable !== null) return;
          if (opened.enabled && !draft.enabled) setTurningOff(true);
          else saving.save(opened.revision);
        }}
      >
        <DestinationFields draft={draft} onChange={setDraft} errors={saving.errors} />
        {saving.theirs === null && <Refusal error={saving.error} />}
        <Button type="submit" look="primary" isPending={saving.isPending} unavailable={unavailable}>
          Save
        </Button>
      </Form>
      {isTurningOff && (
        <TurnOffDialog
          destination={opened}
          onClose={() => setTurningOff(false)}
          onTurnOff={() => {
            setTurningOff(false);
            saving.save(opened.revision);
          }}
        />
      )}
      {saving.theirs !== null && (
        <ConflictDialog
          fields={conflictFields(draftOf(opened), draftOf(saving.theirs), draft)}
          onKeepMine={() => saving.theirs !== null && saving.save(saving.theirs.revision)}
          onTakeTheirs={saving.takeTheirs}
          onClose={saving.putAway}
        />
      )}
    </>
  );
}

function useSaving({ opened, draft, begin }: Revised) {
  const { id } = opened;
  const client = useQueryClient();
  const [theirs, setTheirs] = useState<Destination | null>(null);
  const show = (saved: Destination, sent?: DestinationDraft): void => {
    setTheirs(null);
    begin(saved, sent);
    client.setQueryData(asked("GET /v1/destinations/{id}", { params: { id } }).queryKey, saved);
    void client.invalidateQueries({ queryKey: ["GET /v1/destinations"] });
    void client.invalidateQueries({ queryKey: ["GET /v1/audit"] });
  };
  const saving = useMutation({
    mutationFn: ({ sent, revision }: { readonly sent: DestinationDraft; readonly revision: number }) =>
      call("PATCH /v1/destinations/{id}", { params: { id }, body: patchOf(sent, revision) }),
    onSuccess: (saved, { sent }) => show(saved, sent),
    onError: async (error) => {
      if (!(error instanceof ApiProblem) || error.status !== 409) return;
      setTheirs(await call("GET /v1/destinations/{id}", { params: { id } }));
    },
  });
  const { error, isPending, mutate } = saving;
  return {
    ...{ theirs, error, isPending },
    save: (revision: number) => mutate({ sent: draft, revision }),
    errors: error instanceof ApiProblem ? error.errors : [],
    takeTheirs: () => theirs !== null && show(theirs),
    putAway: () => setTheirs(null),
  };
}
