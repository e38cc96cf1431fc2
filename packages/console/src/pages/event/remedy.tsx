import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { EventVerdict } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Copied } from "../../elements/copied.tsx";
import { useMissingScope } from "../../session/session.ts";
import styles from "./event-page.module.css";

/** What helps: one button where the page can do it, and always the line for the terminal. */
export function Remedy({ verdict }: { readonly verdict: EventVerdict }) {
  const places = verdict.events.flatMap(({ destinations }) => destinations.flatMap(({ place }) => place ?? []));
  return (
    <div className={styles["remedy"]}>
      {places.length > 0 && <SendAgain places={places} />}
      {verdict.command !== null && <Copied what="command" text={verdict.command} />}
    </div>
  );
}

/** A replay of the dead letters at these places. */
function SendAgain({ places }: { readonly places: readonly string[] }) {
  const client = useQueryClient();
  const unavailable = useMissingScope("replay");
  const sending = useMutation({
    mutationFn: () => call("POST /v1/dead-letters/replay", { body: { places } }),
    onSuccess: () => client.invalidateQueries(),
  });
  return (
    <>
      <Button look="primary" isPending={sending.isPending} unavailable={unavailable} onPress={() => sending.mutate()}>
        {places.length === 1 ? "Send again" : `Send again to ${places.length} destinations`}
      </Button>
      <span role="status">{sending.isSuccess && "It is on its way: the timeline shows what comes of it."}</span>
      {sending.error !== null && (
        <p role="alert" className={styles["refusal"]}>
          {sending.error.message}
        </p>
      )}
    </>
  );
}
