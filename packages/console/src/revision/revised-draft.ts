/**
 * The values of a form for an object that others may save too.
 *
 * TD3  The form keeps its opening values for as long as something in it is changed: no later read, and no save by
 *      somebody else, takes anything of it away. It goes on with the version that it saved or took over; values typed
 *      while it was being saved stay.
 */
import { useState } from "react";

export interface RevisedForm<Kept, Draft> {
  readonly draftOf: (kept: Kept) => Draft;
  readonly patchOf: (draft: Draft, revision: number) => unknown;
}

export interface RevisedDraft<Kept, Draft> {
  /** The form's opening version. */
  readonly opened: Kept;
  readonly draft: Draft;
  readonly isChanged: boolean;
  readonly setDraft: (draft: Draft) => void;
  /** Goes on with the saved version, which the form sent as `sent`, or with the other user's version. */
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
