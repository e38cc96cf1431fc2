/**
 * Two people in one form: the later save is refused, and neither loses their changes.
 *
 * TD1  A save carries the revision that the form was opened with; one that is refused by it changes nothing.
 * TD2  The typed values stay in the form, under every choice here but "take theirs".
 */
import { Button } from "../elements/button.tsx";
import { Dialog } from "../elements/dialog.tsx";
import styles from "./conflict-dialog.module.css";

export interface ConflictField {
  readonly name: string;
  /** As the form had it when it was opened. */
  readonly base: string;
  readonly theirs: string;
  readonly yours: string;
}

export interface ConflictDialogProps {
  readonly fields: readonly ConflictField[];
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
  readonly onClose: () => void;
}

export function ConflictDialog({ fields, onKeepMine, onTakeTheirs, onClose }: ConflictDialogProps) {
  const changed = fields.filter(({ base, theirs, yours }) => theirs !== base || yours !== base);
  return (
    <Dialog
      title="Somebody else saved meanwhile"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Back to the form</Button>
          <Button onPress={onTakeTheirs}>Take theirs</Button>
          <Button look="primary" onPress={onKeepMine}>
            Keep mine
          </Button>
        </>
      }
    >
      <p>Nothing of yours was saved, and nothing is lost.</p>
      <dl className={styles["fields"]}>
        {changed.map(({ name, base, theirs, yours }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>before: {base}</dd>
            <dd>theirs: {theirs}</dd>
            <dd>yours: {yours}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
