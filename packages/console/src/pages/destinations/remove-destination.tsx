import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { RemovalDialog } from "../../elements/removal-dialog.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useMissingScope } from "../../session/session.ts";

type Removed = Pick<Destination, "id" | "name">;

/** The way to remove a destination, behind the question. */
export function RemoveDestination({ destination }: { readonly destination: Removed }) {
  const [isAsked, setAsked] = useState(false);
  const unavailable = useMissingScope("write");
  return (
    <div>
      <Button unavailable={unavailable} onPress={() => setAsked(true)}>
        Remove the destination
      </Button>
      {isAsked && <Question destination={destination} onClose={() => setAsked(false)} />}
    </div>
  );
}

function Question({ destination, onClose }: { readonly destination: Removed; readonly onClose: () => void }) {
  const { id, name } = destination;
  const params = { id };
  const client = useQueryClient();
  const router = useRouter();
  const { data } = useQuery({ ...asked("GET /v1/health/destinations/{id}", { params }), retry: false });
  const removing = useMutation({
    mutationFn: () => call("DELETE /v1/destinations/{id}", { params }),
    onSuccess: async () => {
      router.history.push("/destinations");
      await client.invalidateQueries({ queryKey: ["GET /v1/destinations"] });
      client.removeQueries({ queryKey: asked("GET /v1/destinations/{id}", { params }).queryKey });
    },
  });
  return (
    <RemovalDialog
      {...{ name, onClose, isPending: removing.isPending, error: removing.error }}
      onRemove={() => removing.mutate()}
    >
      {waitingWords(data?.waiting?.total)} Nothing that was given up can be sent to it again: to keep that, turn it off.
    </RemovalDialog>
  );
}

/** `total`: undefined while it is not known. */
function waitingWords(total: number | undefined): string {
  if (total === undefined) return "What waits for it becomes dead letters.";
  if (total === 0) return "Nothing waits for it now.";
  return total === 1
    ? "One delivery waits for it and becomes a dead letter."
    : `${countOf(total)} deliveries wait for it and become dead letters.`;
}
