import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { TokenPage } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import { Refusal } from "../../elements/refusal.tsx";

export interface RevokeDialogProps {
  readonly token: TokenPage["data"][number];
  readonly onClose: () => void;
}

export function RevokeDialog({ token: { id, name }, onClose }: RevokeDialogProps) {
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => call("DELETE /v1/tokens/{id}", { params: { id } }),
    onSuccess: async () => {
      onClose();
      await client.invalidateQueries({ queryKey: ["GET /v1/tokens"] });
    },
  });
  return (
    <Dialog
      title={`Revoke ${name}?`}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Keep it</Button>
          <Button look="primary" isPending={revoking.isPending} onPress={() => revoking.mutate()}>
            Revoke
          </Button>
        </>
      }
    >
      <p>Whoever uses it is refused from then on, and every session that acts as it ends. It cannot be undone.</p>
      <Refusal error={revoking.error} />
    </Dialog>
  );
}
