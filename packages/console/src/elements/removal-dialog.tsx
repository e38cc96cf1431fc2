import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Refusal } from "./refusal.tsx";

export interface RemovalDialogProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onRemove: () => void;
  readonly isPending: boolean;
  readonly error: Error | null;
  /** The consequences for everything that hangs on it. */
  readonly children: ReactNode;
}

/** Asks before something is removed for good. */
export function RemovalDialog({ name, onClose, onRemove, isPending, error, children }: RemovalDialogProps) {
  return (
    <Dialog
      title={`Remove ${name}?`}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Keep it</Button>
          <Button look="primary" isPending={isPending} onPress={onRemove}>
            Remove
          </Button>
        </>
      }
    >
      <p>{children} It cannot be undone.</p>
      <Refusal error={error} />
    </Dialog>
  );
}
