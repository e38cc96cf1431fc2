import type { ReactNode } from "react";
import { Form } from "react-aria-components";
import { Button } from "../elements/button.tsx";
import elements from "../elements/elements.module.css";
import { Refusal } from "../elements/refusal.tsx";
import { useMissingScope } from "../session/session.ts";
import { ConflictDialog, type ConflictField } from "./conflict-dialog.tsx";
import type { Saving } from "./saving.ts";

export interface RevisedFormProps<Kept> {
  readonly saving: Saving<Kept>;
  readonly isChanged: boolean;
  readonly onSave: () => void;
  /** The fields that both changed, against the other user's version. */
  readonly fieldsBeside: (theirs: Kept) => readonly ConflictField[];
  /** Its fields. */
  readonly children: ReactNode;
}

/** The shell of a form of something that others may save too; keeps TD1 and TD2 of conflict-dialog.tsx. */
export function RevisedForm<Kept extends { readonly revision: number }>(props: RevisedFormProps<Kept>) {
  const { saving, isChanged, onSave, fieldsBeside, children } = props;
  const { theirs } = saving;
  const missingScope = useMissingScope("write");
  const unavailable = missingScope ?? (isChanged ? null : "nothing is changed");
  return (
    <>
      <Form
        className={elements["form"] ?? ""}
        onSubmit={(event) => {
          event.preventDefault();
          if (unavailable === null) onSave();
        }}
      >
        {missingScope !== null && <p>These settings are to be read: {missingScope}.</p>}
        <fieldset className={elements["fields"]} disabled={missingScope !== null}>
          {children}
        </fieldset>
        {theirs === null && <Refusal error={saving.error} />}
        <Button type="submit" look="primary" isPending={saving.isPending} unavailable={unavailable}>
          Save
        </Button>
      </Form>
      {theirs !== null && (
        <ConflictDialog
          fields={fieldsBeside(theirs)}
          onKeepMine={() => saving.save(theirs.revision)}
          onTakeTheirs={saving.takeTheirs}
          onClose={saving.putAway}
        />
      )}
    </>
  );
}
