import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { EventVerdict, ResendInput } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { ActionLink } from "../../elements/action-link.tsx";
import { Button } from "../../elements/button.tsx";
import { Copied } from "../../elements/copied.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { ResendButton } from "../../resend/resend-button.tsx";
import { useMissingScope } from "../../session/session.ts";
import { AddSource } from "./add-source.tsx";
import styles from "./event-page.module.css";
import { TurnOn } from "./turn-on.tsx";

export interface RemedyProps {
  readonly verdict: EventVerdict;
  readonly nameOf: (id: string) => string;
}

/** The remedy: one action where the page can do it, and always the line for the terminal. */
export function Remedy({ verdict, nameOf }: RemedyProps) {
  return (
    <div className={styles["remedy"]}>
      <Action verdict={verdict} nameOf={nameOf} />
      {verdict.command !== null && <Copied what="command" text={verdict.command} />}
    </div>
  );
}

function Action({ verdict, nameOf }: RemedyProps) {
  const { cause, command, events } = verdict;
  const destinations = events.flatMap((event) => event.destinations);
  const places = destinations.flatMap(({ place }) => place ?? []);
  if (places.length > 0) return <SendAgain places={places} />;
  const waiting = onlyWaiting(verdict);
  if (waiting !== null) {
    const label = `Send now to ${nameOf(waiting.destinationId)}`;
    return (
      <ResendButton delivery={waiting} label={label} look="primary">
        Send now
      </ResendButton>
    );
  }
  const [its] = events.filter((event) => event.cause === cause);
  if (its === undefined) return null;
  switch (cause) {
    case "destination_off": {
      const destinationId = turnedOnAbove(verdict);
      return destinationId === null ? null : <TurnOn destinationId={destinationId} name={nameOf(destinationId)} />;
    }
    case "no_destination":
      // Without a line for the terminal one was connected since.
      return command === null ? null : <AddSource sourceId={its.sourceId} name={nameOf(its.sourceId)} />;
    case "refused":
    case "rejected_in_batch":
      return <ActionLink href={`/sources/${its.sourceId}`}>What the source sent</ActionLink>;
    case "integration_off":
      return <ActionLink href={`/sources/${its.sourceId}`}>Change what the source sends</ActionLink>;
    case "suppressed":
      return <ToDeletion deletion={verdict.deletion} />;
    default:
      return null;
  }
}

/** The deletion request that stopped it; all of them where it is not known. */
function ToDeletion({ deletion }: Pick<EventVerdict, "deletion">) {
  if (deletion === null) return <ActionLink href="/deletions">Deletions</ActionLink>;
  return <ActionLink href={`/deletions/${encodeURIComponent(deletion.id)}`}>Deletion {deletion.id}</ActionLink>;
}

/** The one delivery that waits, of all events of a verdict; null for none or several. */
export function onlyWaiting({ messageId, events }: EventVerdict): ResendInput | null {
  const waiting = events.flatMap(({ sourceId, destinations }) =>
    destinations
      .filter(({ cause }) => cause === "waiting_retry" || cause === "deferred")
      .map(({ destinationId }) => ({ messageId, destinationId, sourceId })),
  );
  const [only, ...others] = waiting;
  return only === undefined || others.length > 0 ? null : only;
}

/** The destination that the verdict's own button turns on; null where that has another action. */
export function turnedOnAbove({ cause, events }: EventVerdict): string | null {
  if (cause !== "destination_off") return null;
  const off = events.flatMap(({ destinations }) => destinations).find((each) => each.cause === cause);
  return off?.destinationId ?? null;
}

/** A replay of the dead letters at these places. */
function SendAgain({ places }: { readonly places: readonly string[] }) {
  const client = useQueryClient();
  const unavailable = useMissingScope("replay");
  const sending = useMutation({
    mutationFn: () => call("POST /v1/replays", { body: { places } }),
    onSuccess: () => client.invalidateQueries(),
  });
  return (
    <>
      <Button look="primary" isPending={sending.isPending} unavailable={unavailable} onPress={() => sending.mutate()}>
        {places.length === 1 ? "Send again" : `Send again to ${places.length} destinations`}
      </Button>
      <span role="status">{sending.isSuccess && "It is on its way: the timeline shows what comes of it."}</span>
      <Refusal error={sending.error} />
    </>
  );
}
