/** Keeps TD1 and TD2 of conflict-dialog.tsx. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import type { Source } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { ApiProblem, call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Checked } from "../../elements/checked.tsx";
import { Choice } from "../../elements/choice.tsx";
import elements from "../../elements/elements.module.css";
import { Field } from "../../elements/field.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { ConflictDialog } from "../../revision/conflict-dialog.tsx";
import { useMissingScope } from "../../session/session.ts";
import { KINDS } from "./source-kinds.ts";

/** What may be changed of a source. It is opened with one revision and begins anew with another. */
export function SourceForm({ source }: { readonly source: Source }) {
  const client = useQueryClient();
  const missingScope = useMissingScope("write");
  const { id } = source;
  const [name, setName] = useState(source.name);
  const [kind, setKind] = useState(source.kind);
  const [enabled, setEnabled] = useState(source.enabled);
  const [theirs, setTheirs] = useState<Source | null>(null);
  const query = asked("GET /v1/sources/{id}", { params: { id } });
  const show = (saved: Source): void => {
    setTheirs(null);
    client.setQueryData(query.queryKey, saved);
    void client.invalidateQueries({ queryKey: ["GET /v1/sources"] });
  };
  const saving = useMutation({
    mutationFn: (revision: number) =>
      call("PATCH /v1/sources/{id}", { params: { id }, body: { revision, name: name.trim(), kind, enabled } }),
    onSuccess: show,
    onError: async (error) => {
      if (!(error instanceof ApiProblem) || error.status !== 409) return;
      setTheirs(await call("GET /v1/sources/{id}", { params: { id } }));
    },
  });
  const isChanged = name.trim() !== source.name || kind !== source.kind || enabled !== source.enabled;
  const unavailable = missingScope ?? (isChanged ? null : "nothing is changed");
  return (
    <>
      <Form
        className={elements["form"] ?? ""}
        onSubmit={(event) => {
          event.preventDefault();
          if (unavailable === null) saving.mutate(source.revision);
        }}
      >
        <Field label="Name" value={name} onChange={setName} />
        <Choice label="Kind" value={kind} choices={KINDS} onChange={setKind} />
        <Checked isSelected={enabled} onChange={setEnabled}>
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
            { name: "Name", base: source.name, theirs: theirs.name, yours: name.trim() },
            { name: "Kind", base: source.kind, theirs: theirs.kind, yours: kind },
            { name: "Taken", base: onOff(source.enabled), theirs: onOff(theirs.enabled), yours: onOff(enabled) },
          ]}
          onKeepMine={() => saving.mutate(theirs.revision)}
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
