import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Removal } from "../../elements/removal.tsx";
import { countOf } from "../../moment/numbers.ts";
import { useMissingScope } from "../../session/session.ts";

type Removed = Pick<Destination, "id" | "name">;

/** The way to remove a destination, behind the question. */
export function RemoveDestination({ destination: { id, name } }: { readonly destination: Removed }) {
  const params = { id };
  const client = useQueryClient();
  const router = useRouter();
  return (
    <Removal
      {...{ noun: "destination", name, unavailable: useMissingScope("write") }}
      remove={() => call("DELETE /v1/destinations/{id}", { params })}
      onRemoved={async () => {
        router.history.push("/destinations");
        await client.invalidateQueries({ queryKey: ["GET /v1/destinations"] });
        client.removeQueries({ queryKey: asked("GET /v1/destinations/{id}", { params }).queryKey });
      }}
    >
      <Waiting id={id} /> Its dead letters cannot be sent again after that. To keep them, turn it off.
    </Removal>
  );
}

/** The end of the deliveries that wait for it, as far as that is known. */
function Waiting({ id }: { readonly id: string }) {
  const { data } = useQuery({ ...asked("GET /v1/health/destinations/{id}", { params: { id } }), retry: false });
  const total = data?.waiting?.total;
  if (total === undefined) return "What waits for it becomes dead letters.";
  if (total === 0) return "Nothing waits for it now.";
  return total === 1
    ? "One delivery waits for it and becomes a dead letter."
    : `${countOf(total)} deliveries wait for it and become dead letters.`;
}
