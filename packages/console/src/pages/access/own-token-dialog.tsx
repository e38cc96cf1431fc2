/** A token for one's own terminal, shown once (NT1 of new-token-dialog.tsx). */
import { useMutation } from "@tanstack/react-query";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Copied } from "../../elements/copied.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import { Refusal } from "../../elements/refusal.tsx";

export function OwnTokenDialog({ onClose }: { readonly onClose: () => void }) {
  const making = useMutation({ mutationFn: () => call("POST /v1/session/token", {}), gcTime: 0 });
  return (
    <Dialog
      title="Use it in the terminal"
      isOpen
      onClose={onClose}
      actions={
        making.data === undefined ? (
          <Button look="primary" isPending={making.isPending} onPress={() => making.mutate()}>
            Make the token
          </Button>
        ) : (
          <Button onPress={onClose}>Done</Button>
        )
      }
    >
      {making.data === undefined ? (
        <p>A token that may do what you may, in place of the last one that you made here.</p>
      ) : (
        <>
          <p>It is not shown again. In the terminal:</p>
          <Copied what="line with the token" text={`export POSTHASTE_ADMIN_TOKEN=${making.data.token}`} />
        </>
      )}
      <Refusal error={making.error} />
    </Dialog>
  );
}
