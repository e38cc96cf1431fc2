/**
 * What stands in a form of something that others may save too.
 *
 * TD3  The form keeps what it was opened with for as long as something in it is changed: whatever is read meanwhile,
 *      and whoever saved it, takes nothing of it away. What is saved by it, or taken over, is what it goes on with.
 */
import { useState } from "react";

export interface RevisedForm<Kept, Draft> {
  readonly draftOf: (kept: Kept) => Draft;
  readonly patchOf: (draft: Draft, revision: number) => unknown;
}

export interface RevisedDraft<Kept, Draft> {
  /** What the form was opened with. */
  readonly opened: Kept;
  readonly draft: Draft;
  readonly isChanged: boolean;
  readonly setDraft: (draft: Draft) => void;
  /** Goes on with what was saved. */
  readonly begin: (kept: Kept) => void;
}

/** `present`: as it was read last. */
export function useRevisedDraft<Kept extends { readonly revision: number }, Draft>(
  present: Kept,
  { draftOf, patchOf }: RevisedForm<Kept, Draft>,
): RevisedDraft<Kept, Draft> {
  const [opened, setOpened] = useState(present);
  const [draft, setDraft] = useState(() => draftOf(present));
  const isChanged = JSON.stringify(patchOf(draft, 0)) !== JSON.stringify(patchOf(draftOf(opened), 0));
  const begin = (kept: Kept): void => {
    setOpened(kept);
    setDraft(draftOf(kept));
  };
  if (present.revision > opened.revision && !isChanged) begin(present);
  return { opened, draft, isChanged, setDraft, begin };
}
