/**
 * What stands in a form of something that others may save too.
 *
 * TD3  The form keeps what it was opened with for as long as something in it is changed: whatever is read meanwhile,
 *      and whoever saved it, takes nothing of it away. What is saved by it, or taken over, is what it goes on with;
 *      what was typed while it was being saved stays.
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
  /** Goes on with what was saved, which the form sent as `sent`, or with what somebody else saved. */
  readonly begin: (kept: Kept, sent?: Draft) => void;
}

/** `present`: as it was read last. */
export function useRevisedDraft<Kept extends { readonly revision: number }, Draft>(
  present: Kept,
  { draftOf, patchOf }: RevisedForm<Kept, Draft>,
): RevisedDraft<Kept, Draft> {
  const [opened, setOpened] = useState(present);
  const [draft, setDraft] = useState(() => draftOf(present));
  const isSame = (one: Draft, other: Draft) => JSON.stringify(patchOf(one, 0)) === JSON.stringify(patchOf(other, 0));
  const isChanged = !isSame(draft, draftOf(opened));
  const begin = (kept: Kept, sent?: Draft): void => {
    setOpened(kept);
    setDraft((typed) => (sent !== undefined && !isSame(typed, sent) ? typed : draftOf(kept)));
  };
  if (present.revision > opened.revision && !isChanged) begin(present);
  return { opened, draft, isChanged, setDraft, begin };
}
