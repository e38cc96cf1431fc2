/** Keeps TD1 and TD2 of conflict-dialog.tsx. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { ApiProblem, call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import elements from "../../elements/elements.module.css";
import { Refusal } from "../../elements/refusal.tsx";
import { ConflictDialog } from "../../revision/conflict-dialog.tsx";
import { useMissingScope } from "../../session/session.ts";
import { conflictFields, type DestinationDraft, draftOf, patchOf } from "./destination-draft.ts";
import { DestinationFields } from "./destination-fields.tsx";

/** What may be changed of a destination. It is opened with one revision and begins anew with another. */
export function DestinationForm({ destination }: { readonly destination: Destination }) {
  const missingScope = useMissingScope("write");
  const [draft, setDraft] = useState(() => draftOf(destination));
  const [isTurningOff, setTurningOff] = useState(false);
  const saving = useSaving(destination, draft);
  const base = draftOf(destination);
  const isChanged = JSON.stringify(patchOf(draft, 0)) !== JSON.stringify(patchOf(base, 0));
  const unavailable = missingScope ?? (isChanged ? null : "nothing is changed");
  return (
    <>
      <Form
        className={elements["form"] ?? ""}
        onSubmit={(event) => {
          event.preventDefault();
          if (unavailable !== null) return;
          if (destination.enabled && !draft.enabled) setTurningOff(true);
          else saving.save(destination.revision);
        }}
      >
        <DestinationFields draft={draft} onChange={setDraft} errors={saving.errors} />
        {saving.theirs === null && <Refusal error={saving.error} />}
        <Button type="submit" look="primary" isPending={saving.isPending} unavailable={unavailable}>
          Save
        </Button>
      </Form>
      {isTurningOff && (
        <Dialog
          title={`Turn off ${destination.name}?`}
          isOpen
          onClose={() => setTurningOff(false)}
          actions={
            <>
              <Button onPress={() => setTurningOff(false)}>Leave it on</Button>
              <Button
                look="primary"
                onPress={() => {
                  setTurningOff(false);
                  saving.save(destination.revision);
                }}
              >
                Turn off
              </Button>
            </>
          }
        >
          <p>What waits for it becomes dead letters, which can be sent again once it is on. New events pass it by.</p>
        </Dialog>
      )}
      {saving.theirs !== null && (
        <ConflictDialog
          fields={conflictFields(base, draftOf(saving.theirs), draft)}
          onKeepMine={() => saving.theirs !== null && saving.save(saving.theirs.revision)}
          onTakeTheirs={saving.takeTheirs}
          onClose={saving.putAway}
        />
      )}
    </>
  );
}

function useSaving({ id }: Destination, draft: DestinationDraft) {
  const client = useQueryClient();
  const [theirs, setTheirs] = useState<Destination | null>(null);
  const show = (saved: Destination): void => {
    setTheirs(null);
    client.setQueryData(asked("GET /v1/destinations/{id}", { params: { id } }).queryKey, saved);
    void client.invalidateQueries({ queryKey: ["GET /v1/destinations"] });
    void client.invalidateQueries({ queryKey: ["GET /v1/audit"] });
  };
  const saving = useMutation({
    mutationFn: (revision: number) =>
      call("PATCH /v1/destinations/{id}", { params: { id }, body: patchOf(draft, revision) }),
    onSuccess: show,
    onError: async (error) => {
      if (!(error instanceof ApiProblem) || error.status !== 409) return;
      setTheirs(await call("GET /v1/destinations/{id}", { params: { id } }));
    },
  });
  const { error, isPending, mutate: save } = saving;
  return {
    ...{ theirs, error, isPending, save },
    errors: error instanceof ApiProblem ? error.errors : [],
    takeTheirs: () => theirs !== null && show(theirs),
    putAway: () => setTheirs(null),
  };
}
