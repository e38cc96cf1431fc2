/** Keeps TD1 and TD2 of conflict-dialog.tsx, and TD3 of revised-draft.ts. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import type { Source, SourcePatch } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { ApiProblem, call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Checked } from "../../elements/checked.tsx";
import { Choice } from "../../elements/choice.tsx";
import elements from "../../elements/elements.module.css";
import { Field } from "../../elements/field.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { ConflictDialog } from "../../revision/conflict-dialog.tsx";
import { useRevisedDraft } from "../../revision/revised-draft.ts";
import { useMissingScope } from "../../session/session.ts";
import { KINDS } from "./source-kinds.ts";

type SourceDraft = Pick<Source, "name" | "kind" | "enabled">;

const FORM = {
  draftOf: ({ name, kind, enabled }: Source): SourceDraft => ({ name, kind, enabled }),
  patchOf: ({ name, kind, enabled }: SourceDraft, revision: number): SourcePatch => ({
    ...{ revision, name: name.trim(), kind, enabled },
  }),
};

/** What may be changed of a source. */
export function SourceForm({ source }: { readonly source: Source }) {
  const client = useQueryClient();
  const missingScope = useMissingScope("write");
  const { id } = source;
  const { opened, draft, isChanged, setDraft, begin } = useRevisedDraft(source, FORM);
  const { name, kind, enabled } = draft;
  const put = (part: Partial<SourceDraft>): void => setDraft({ ...draft, ...part });
  const [theirs, setTheirs] = useState<Source | null>(null);
  const query = asked("GET /v1/sources/{id}", { params: { id } });
  const show = (saved: Source, sent?: SourceDraft): void => {
    setTheirs(null);
    begin(saved, sent);
    client.setQueryData(query.queryKey, saved);
    void client.invalidateQueries({ queryKey: ["GET /v1/sources"] });
  };
  const saving = useMutation({
    mutationFn: ({ sent, revision }: { readonly sent: SourceDraft; readonly revision: number }) =>
      call("PATCH /v1/sources/{id}", { params: { id }, body: FORM.patchOf(sent, revision) }),
    onSuccess: (saved, { sent }) => show(saved, sent),
    onError: async (error) => {
      if (!(error instanceof ApiProblem) || error.status !== 409) return;
      setTheirs(await call("GET /v1/sources/{id}", { params: { id } }));
    },
  });
  const unavailable = missingScope ?? (isChanged ? null : "nothing is changed");
  return (
    <>
      <Form
        className={elements["form"] ?? ""}
        onSubmit={(event) => {
          event.preventDefault();
          if (unavailable === null) saving.mutate({ sent: draft, revision: opened.revision });
        }}
      >
        <Field label="Name" value={name} onChange={(typed) => put({ name: typed })} />
        <Choice label="Kind" value={kind} choices={KINDS} onChange={(chosen) => put({ kind: chosen })} />
        <Checked isSelected={enabled} onChange={(isOn) => put({ enabled: isOn })}>
          Its calls are taken; off, they are refused
        </Checked>
        {theirs === null && <Refusal error={saving.error} />}
        <Button type="submit" look="primary" isPending={saving.isPending} unavailable={unavailable}>
          Save
        </Button>
      </Form>
      {theirs !== null && (
        <ConflictDialog
          fields={[
            { name: "Name", base: opened.name, theirs: theirs.name, yours: name.trim() },
            { name: "Kind", base: opened.kind, theirs: theirs.kind, yours: kind },
            { name: "Taken", base: onOff(opened.enabled), theirs: onOff(theirs.enabled), yours: onOff(enabled) },
          ]}
          onKeepMine={() => saving.mutate({ sent: draft, revision: theirs.revision })}
          onTakeTheirs={() => show(theirs)}
          onClose={() => setTheirs(null)}
        />
      )}
    </>
  );
}

function onOff(enabled: boolean): string {
  return enabled ? "on" : "off";
}
