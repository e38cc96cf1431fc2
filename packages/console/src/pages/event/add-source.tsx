import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { Button } from "../../elements/button.tsx";
import { Choice } from "../../elements/choice.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { searchOf } from "../../listing/filter.ts";
import { allDestinations } from "../../names/names.ts";
import { useMissingScope } from "../../session/session.ts";
import styles from "./event-page.module.css";

export interface AddSourceProps {
  readonly sourceId: string;
  readonly name: string;
}

/** Connects a source to a destination that is there; where there is none, to a new one. */
export function AddSource({ sourceId, name }: AddSourceProps) {
  const client = useQueryClient();
  const unavailable = useMissingScope("write");
  const { data: destinations = [], isPending } = useQuery(allDestinations);
  const [chosenId, setChosenId] = useState("");
  const chosen = destinations.find(({ id }) => id === chosenId) ?? destinations[0];
  const adding = useMutation({
    mutationFn: async (id: string) => {
      const params = { id };
      // As it is now: the list may be a minute old.
      const { revision, sourceIds } = await call("GET /v1/destinations/{id}", { params });
      const body = { revision, sourceIds: [...new Set([...sourceIds, sourceId])] };
      return call("PATCH /v1/destinations/{id}", { params, body });
    },
    onSuccess: (saved) => {
      client.setQueryData(asked("GET /v1/destinations/{id}", { params: { id: saved.id } }).queryKey, saved);
      void client.invalidateQueries({ queryKey: ["GET /v1/destinations"] });
    },
  });
  if (isPending) return null;
  if (chosen === undefined) {
    return (
      <ActionLink href={`/connect${searchOf({ kind: "Webhooks" })}`} look="primary">
        Connect a webhook
      </ActionLink>
    );
  }
  return (
    <>
      <div className={styles["adding"]}>
        <Choice
          label="To the destination"
          value={chosen.id}
          choices={destinations.map(({ id, name: its }) => [id, its] as const)}
          onChange={setChosenId}
        />
        <Button
          look="primary"
          isPending={adding.isPending}
          unavailable={unavailable}
          onPress={() => adding.mutate(chosen.id)}
        >
          {`Add the source ${name}`}
        </Button>
      </div>
      <span role="status">
        {adding.data !== undefined &&
          `It is connected: ${adding.data.name} gets what is received from a second after that, and not this event.`}
      </span>
      <Refusal error={adding.error} />
    </>
  );
}
