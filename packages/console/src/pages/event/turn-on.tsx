import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { useMissingScope } from "../../session/session.ts";

export interface TurnOnProps {
  readonly destinationId: string;
  readonly name: string;
}

/** Turns a destination on that an event passed by, by the revision that was looked at. */
export function TurnOn({ destinationId, name }: TurnOnProps) {
  const client = useQueryClient();
  const missingScope = useMissingScope("write");
  const params = { id: destinationId };
  const asks = asked("GET /v1/destinations/{id}", { params });
  const { data } = useQuery({ ...asks, retry: false });
  const turning = useMutation({
    mutationFn: (revision: number) =>
      call("PATCH /v1/destinations/{id}", { params, body: { revision, enabled: true } }),
    onSuccess: (saved) => {
      client.setQueryData(asks.queryKey, saved);
      void client.invalidateQueries({ queryKey: ["GET /v1/destinations"] });
    },
    // Somebody else changed it meanwhile: it is looked at again.
    onError: () => client.invalidateQueries({ queryKey: asks.queryKey }),
  });
  const unavailable =
    data === undefined ? "it is not known whether it is on" : data.enabled ? "it is on" : missingScope;
  return (
    <>
      <Button
        look="primary"
        isPending={turning.isPending}
        unavailable={unavailable}
        onPress={() => {
          if (data !== undefined) turning.mutate(data.revision);
        }}
      >
        {`Turn on ${name}`}
      </Button>
      <span role="status">
        {data?.enabled === true && "It is on: it gets what is received from a second after that, and not this event."}
      </span>
      <Refusal error={turning.error} />
    </>
  );
}
