import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import type { Audience } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { RemovalDialog } from "../../elements/removal-dialog.tsx";
import { countOf } from "../../moment/numbers.ts";

export interface RemoveAudienceDialogProps {
  readonly audience: Audience;
  readonly onClose: () => void;
}

export function RemoveAudienceDialog({ audience: { id, name, trait, size }, onClose }: RemoveAudienceDialogProps) {
  const client = useQueryClient();
  const router = useRouter();
  const removing = useMutation({
    mutationFn: () => call("DELETE /v1/audiences/{id}", { params: { id } }),
    onSuccess: async () => {
      router.history.push("/audiences");
      await client.invalidateQueries({ queryKey: ["GET /v1/audiences"] });
    },
  });
  return (
    <RemovalDialog
      {...{ name, onClose, isPending: removing.isPending, error: removing.error }}
      onRemove={() => removing.mutate()}
    >
      Destinations are not told: of {countOf(size)} users they keep <code>{trait}: true</code>, unless the audience is
      emptied by a sync before. What still waits to be told is dropped, and who was in it is forgotten: one of the same
      name that is made later begins with nobody.
    </RemovalDialog>
  );
}
