import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import type { Source } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { RemovalDialog } from "../../elements/removal-dialog.tsx";
import { allDestinations } from "../../names/names.ts";
import { useMissingScope } from "../../session/session.ts";

type Removed = Pick<Source, "id" | "name">;

/** Of those that stay. */
const MOST_NAMED = 5;

/** The way to remove a source, behind the question. */
export function RemoveSource({ source }: { readonly source: Removed }) {
  const [isAsked, setAsked] = useState(false);
  const unavailable = useMissingScope("write");
  return (
    <div>
      <Button unavailable={unavailable} onPress={() => setAsked(true)}>
        Remove the source
      </Button>
      {isAsked && <Question source={source} onClose={() => setAsked(false)} />}
    </div>
  );
}

function Question({ source: { id, name }, onClose }: { readonly source: Removed; readonly onClose: () => void }) {
  const params = { id };
  const client = useQueryClient();
  const router = useRouter();
  const { data: destinations = [] } = useQuery(allDestinations);
  const removing = useMutation({
    mutationFn: () => call("DELETE /v1/sources/{id}", { params }),
    onSuccess: async () => {
      router.history.push("/sources");
      await client.invalidateQueries({ queryKey: ["GET /v1/sources"] });
      client.removeQueries({ queryKey: asked("GET /v1/sources/{id}", { params }).queryKey });
      // They lose it.
      await client.invalidateQueries({ queryKey: ["GET /v1/destinations"] });
    },
  });
  const connected = destinations.filter(({ sourceIds }) => sourceIds.includes(id)).map((each) => each.name);
  return (
    <RemovalDialog
      {...{ name, onClose, isPending: removing.isPending, error: removing.error }}
      onRemove={() => removing.mutate()}
    >
      Its write key is refused from then on. {connectedWords(connected)}
    </RemovalDialog>
  );
}

/** `Billing, Warehouse get nothing from it any more, and stay.` */
function connectedWords(names: readonly string[]): string {
  if (names.length === 0) return "No destination gets anything from it.";
  const others = names.length - MOST_NAMED;
  const named = names.slice(0, MOST_NAMED).join(", ");
  const all = others > 0 ? `${named} and ${others} more` : named;
  const [get, stay] = names.length === 1 ? ["gets", "stays"] : ["get", "stay"];
  return `${all} ${get} nothing from it any more, and ${stay}.`;
}
