import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import type { Source } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Removal } from "../../elements/removal.tsx";
import { allDestinations } from "../../names/names.ts";
import { useMissingScope } from "../../session/session.ts";

type Removed = Pick<Source, "id" | "name">;

/** Of those that stay. */
const MOST_NAMED = 5;

/** The way to remove a source, behind the question. */
export function RemoveSource({ source: { id, name } }: { readonly source: Removed }) {
  const params = { id };
  const client = useQueryClient();
  const router = useRouter();
  return (
    <Removal
      {...{ noun: "source", name, unavailable: useMissingScope("write") }}
      remove={() => call("DELETE /v1/sources/{id}", { params })}
      onRemoved={async () => {
        router.history.push("/sources");
        await client.invalidateQueries({ queryKey: ["GET /v1/sources"] });
        client.removeQueries({ queryKey: asked("GET /v1/sources/{id}", { params }).queryKey });
        // They lose it.
        await client.invalidateQueries({ queryKey: ["GET /v1/destinations"] });
      }}
    >
      Its write key is refused from then on. <Connected id={id} />
    </Removal>
  );
}

/** `Billing, Warehouse get nothing from it any more, and stay.` */
function Connected({ id }: { readonly id: string }) {
  const { data: destinations = [] } = useQuery(allDestinations);
  const names = destinations.filter(({ sourceIds }) => sourceIds.includes(id)).map((each) => each.name);
  if (names.length === 0) return "No destination gets anything from it.";
  const others = names.length - MOST_NAMED;
  const named = names.slice(0, MOST_NAMED).join(", ");
  const all = others > 0 ? `${named} and ${others} more` : named;
  const [get, stay] = names.length === 1 ? ["gets", "stays"] : ["get", "stay"];
  return `${all} ${get} nothing from it any more, and ${stay}.`;
}
