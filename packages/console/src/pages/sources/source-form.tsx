/** Keeps TD3 of revised-draft.ts. */
import { useQueryClient } from "@tanstack/react-query";
import type { Source, SourcePatch } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Checked } from "../../elements/checked.tsx";
import { Choice } from "../../elements/choice.tsx";
import { Field } from "../../elements/field.tsx";
import { useRevisedDraft } from "../../revision/revised-draft.ts";
import { RevisedForm } from "../../revision/revised-form.tsx";
import { useSaving } from "../../revision/saving.ts";
import { KINDS } from "./source-kinds.ts";

type SourceDraft = Pick<Source, "name" | "kind" | "enabled">;

const FORM = {
  draftOf: ({ name, kind, enabled }: Source): SourceDraft => ({ name, kind, enabled }),
  patchOf: ({ name, kind, enabled }: SourceDraft, revision: number): SourcePatch => ({
    ...{ revision, name: name.trim(), kind, enabled },
  }),
};

/** The settings of a source that may be changed. */
export function SourceForm({ source }: { readonly source: Source }) {
  const { id } = source;
  const revised = useRevisedDraft(source, FORM);
  const { opened, draft, isChanged, setDraft } = revised;
  const { name, kind, enabled } = draft;
  const put = (part: Partial<SourceDraft>): void => setDraft({ ...draft, ...part });
  const client = useQueryClient();
  const saving = useSaving(revised, {
    read: () => call("GET /v1/sources/{id}", { params: { id } }),
    write: (sent, revision) => call("PATCH /v1/sources/{id}", { params: { id }, body: FORM.patchOf(sent, revision) }),
    tell: (saved) => {
      client.setQueryData(asked("GET /v1/sources/{id}", { params: { id } }).queryKey, saved);
      void client.invalidateQueries({ queryKey: ["GET /v1/sources"] });
    },
  });
  return (
    <RevisedForm
      saving={saving}
      isChanged={isChanged}
      onSave={() => saving.save(opened.revision)}
      fieldsBeside={(theirs) => [
        { name: "Name", base: opened.name, theirs: theirs.name, yours: name.trim() },
        { name: "Kind", base: opened.kind, theirs: theirs.kind, yours: kind },
        { name: "Accept calls", base: onOff(opened.enabled), theirs: onOff(theirs.enabled), yours: onOff(enabled) },
      ]}
    >
      <Field label="Name" value={name} onChange={(typed) => put({ name: typed })} />
      <Choice label="Kind" value={kind} choices={KINDS} onChange={(chosen) => put({ kind: chosen })} />
      <Checked isSelected={enabled} onChange={(isOn) => put({ enabled: isOn })}>
        Accept calls (off: they are rejected)
      </Checked>
    </RevisedForm>
  );
}

function onOff(enabled: boolean): string {
  return enabled ? "on" : "off";
}
