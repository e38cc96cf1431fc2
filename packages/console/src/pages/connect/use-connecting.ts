/**
 * CO1  A source that was made before its destination was refused is used again.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useRef } from "react";
import { ApiProblem, call } from "../../api/client.ts";
import { type ConnectDraft, forgetDraft, nameOf, settingsOf } from "./connect-draft.ts";

/** Makes the source where it is new, and the destination; then leads to where its first event is waited for. */
export function useConnecting(draft: ConnectDraft, sharedSecret: string) {
  const client = useQueryClient();
  const router = useRouter();
  const made = useRef<string | null>(null);
  const connecting = useMutation({
    mutationFn: async (enabled: boolean) => {
      const sourceId = draft.sourceId ?? made.current ?? (await createSource(draft));
      made.current = sourceId;
      const settings = settingsOf(draft, sharedSecret);
      const destination = await call("POST /v1/destinations", {
        body: { type: "Webhooks", name: nameOf(draft), sourceIds: [sourceId], enabled, settings },
      });
      const { id: destinationId } = destination;
      if (draft.receiverId !== null) {
        await call("PATCH /v1/test-receivers/{id}", { params: { id: draft.receiverId }, body: { destinationId } });
      }
      return destination;
    },
    onSuccess: ({ id, enabled }) => {
      forgetDraft();
      router.history.push(enabled ? `/connect/${id}` : `/destinations/${id}`);
    },
    onSettled: () => client.invalidateQueries(),
  });
  const { error, isPending, mutate: connect, reset } = connecting;
  const forgetRefusal = () => error !== null && reset();
  return { error, isPending, connect, forgetRefusal, errors: error instanceof ApiProblem ? error.errors : [] };
}

async function createSource({ sourceName, sourceKind }: ConnectDraft): Promise<string> {
  const body = { name: sourceName.trim() === "" ? "My website" : sourceName.trim(), kind: sourceKind };
  return (await call("POST /v1/sources", { body })).id;
}
