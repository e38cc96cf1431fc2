/**
 * Keeps TD3 of revised-draft.ts; the typed values are the page's, since the form goes when another tab is looked at.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { conflictFields, type DestinationDraft, draftOf, patchOf } from "../../destination-form/destination-draft.ts";
import { DestinationFields } from "../../destination-form/destination-fields.tsx";
import { type RevisedDraft, useRevisedDraft } from "../../revision/revised-draft.ts";
import { RevisedForm } from "../../revision/revised-form.tsx";
import { useSaving } from "../../revision/saving.ts";
import { TurnOffDialog } from "./turn-off-dialog.tsx";

const FORM = { draftOf, patchOf };

type Revised = RevisedDraft<Destination, DestinationDraft>;

/** For the page that has the form. */
export function useDestinationDraft(destination: Destination): Revised {
  return useRevisedDraft(destination, FORM);
}

/** The settings of a destination that may be changed. */
export function DestinationForm({ revised }: { readonly revised: Revised }) {
  const { opened, draft, isChanged, setDraft } = revised;
  const { id } = opened;
  const [isTurningOff, setTurningOff] = useState(false);
  const client = useQueryClient();
  const saving = useSaving(revised, {
    read: () => call("GET /v1/destinations/{id}", { params: { id } }),
    write: (sent, revision) => call("PATCH /v1/destinations/{id}", { params: { id }, body: patchOf(sent, revision) }),
    tell: (saved) => {
      client.setQueryData(asked("GET /v1/destinations/{id}", { params: { id } }).queryKey, saved);
      void client.invalidateQueries({ queryKey: ["GET /v1/destinations"] });
      void client.invalidateQueries({ queryKey: ["GET /v1/audit"] });
    },
  });
  return (
    <>
      <RevisedForm
        saving={saving}
        isChanged={isChanged}
        onSave={() => {
          if (opened.enabled && !draft.enabled) setTurningOff(true);
          else saving.save(opened.revision);
        }}
        fieldsBeside={(theirs) => conflictFields(draftOf(opened), draftOf(theirs), draft)}
      >
        <DestinationFields draft={draft} onChange={setDraft} errors={saving.errors} />
      </RevisedForm>
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
    </>
  );
}
