import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Refusal } from "./refusal.tsx";

export interface RemovalProps {
  /** The word for it: "source". */
  readonly noun: string;
  readonly name: string;
  /** The reason for which the caller may not remove it. */
  readonly unavailable: string | null;
  readonly remove: () => Promise<unknown>;
  readonly onRemoved: () => Promise<void>;
  /** The consequences for everything that hangs on it; read only once it is asked for. */
  readonly children: ReactNode;
}

/** The way to remove something for good, behind a question. */
export function Removal({ noun, unavailable, ...question }: RemovalProps) {
  const [isAsked, setAsked] = useState(false);
  return (
    <div>
      <Button unavailable={unavailable} onPress={() => setAsked(true)}>
        Remove the {noun}
      </Button>
      {isAsked && <Question {...question} onClose={() => setAsked(false)} />}
    </div>
  );
}

type QuestionProps = Omit<RemovalProps, "noun" | "unavailable"> & { readonly onClose: () => void };

function Question({ name, onClose, remove, onRemoved, children }: QuestionProps) {
  const removing = useMutation({ mutationFn: remove, onSuccess: onRemoved });
  return (
    <Dialog
      title={`Remove ${name}?`}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Keep it</Button>
          <Button look="primary" isPending={removing.isPending} onPress={() => removing.mutate()}>
            Remove
          </Button>
        </>
      }
    >
      <p>{children} It cannot be undone.</p>
      <Refusal error={removing.error} />
    </Dialog>
  );
}
