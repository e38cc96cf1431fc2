/** The effects of a deletion request, with its counts, and the press that asks (DA1 and DA2 of ask-dialog.tsx). */

import { useMutation, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { numbered } from "../../moment/numbers.ts";
import { allDestinations, allSources } from "../../names/names.ts";
import { concernedBy, type DeletionDraft, inputOf, receiversOf, usersOf } from "./deletion-draft.ts";

const SUPPRESSED = [
  "They are suppressed: nothing of theirs from these sources is delivered from then on, and what waits is dropped.",
  "That takes ten seconds.",
].join(" ");

export interface AskConfirmationProps {
  readonly id: string;
  readonly draft: DeletionDraft;
  readonly onBack: () => void;
  readonly onClose: () => void;
}

export function AskConfirmation({ id, draft, onBack, onClose }: AskConfirmationProps) {
  const router = useRouter();
  const { data: sources = [] } = useQuery(allSources);
  const { data: destinations } = useQuery(allDestinations);
  const users = usersOf(draft.text).userIds.length;
  const concerned = concernedBy(draft, sources);
  const asking = useMutation({
    mutationFn: () => call("POST /v1/deletions", { body: inputOf(draft, id) }),
    onSuccess: () => router.history.push(`/deletions/${id}`),
  });
  return (
    <Dialog
      title={`Ask for the deletion of ${numbered(users, "user")}?`}
      isOpen
      {...(asking.isPending ? {} : { onClose })}
      actions={
        <>
          <Button autoFocus unavailable={asking.isPending ? "it is being asked for" : null} onPress={onBack}>
            Back
          </Button>
          <Button look="primary" isPending={asking.isPending} onPress={() => asking.mutate()}>
            {`Ask for ${numbered(users, "deletion")}`}
          </Button>
        </>
      }
    >
      <p>
        {`Of ${numbered(concerned.length, "source")}. `}
        {destinations !== undefined && notifiedText(users, receiversOf(concerned, destinations))} What was sent cannot
        be taken back.
      </p>
      <p>{draft.suppress ? SUPPRESSED : "They are not suppressed: what comes of theirs is delivered as before."}</p>
      <span role="status">{asking.isPending && "Asking…"}</span>
      <Refusal error={asking.error} />
    </Dialog>
  );
}

function notifiedText(users: number, receivers: number): string {
  if (receivers === 0) return "Nobody is told: none of them has a destination that is on.";
  return `${numbered(users * receivers, "notification")}: one of each user to each destination of theirs that is on.`;
}
