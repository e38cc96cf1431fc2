import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Problem } from "../api/api-types.ts";
import { ApiProblem } from "../api/client.ts";
import type { RevisedDraft } from "./revised-draft.ts";

export interface SavingCalls<Kept, Draft> {
  readonly read: () => Promise<Kept>;
  readonly write: (sent: Draft, revision: number) => Promise<Kept>;
  /** Makes the saved version known to the rest of the console, whether this form or somebody else saved it. */
  readonly tell: (saved: Kept) => void;
}

export interface Saving<Kept> {
  /** The other user's version, saved meanwhile; null for none. */
  readonly theirs: Kept | null;
  readonly error: Error | null;
  readonly errors: Problem["errors"];
  readonly isPending: boolean;
  /** Over this revision. */
  readonly save: (revision: number) => void;
  readonly takeTheirs: () => void;
  /** Forgets theirs until the next save. */
  readonly putAway: () => void;
}

/** Saves the values of a form; on a 409, loads the other user's version. */
export function useSaving<Kept, Draft>(
  { draft, begin }: RevisedDraft<Kept, Draft>,
  { read, write, tell }: SavingCalls<Kept, Draft>,
): Saving<Kept> {
  const [theirs, setTheirs] = useState<Kept | null>(null);
  const show = (saved: Kept, sent?: Draft): void => {
    setTheirs(null);
    begin(saved, sent);
    tell(saved);
  };
  const { error, isPending, mutate } = useMutation({
    mutationFn: ({ sent, revision }: { readonly sent: Draft; readonly revision: number }) => write(sent, revision),
    onSuccess: (saved, { sent }) => show(saved, sent),
    onError: async (refusal) => {
      if (refusal instanceof ApiProblem && refusal.status === 409) setTheirs(await read());
    },
  });
  return {
    ...{ theirs, error, isPending },
    errors: error instanceof ApiProblem ? error.errors : [],
    save: (revision) => mutate({ sent: draft, revision }),
    takeTheirs: () => theirs !== null && show(theirs),
    putAway: () => setTheirs(null),
  };
}
