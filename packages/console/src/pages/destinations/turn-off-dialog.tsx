import { useQuery } from "@tanstack/react-query";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { Button } from "../../elements/button.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import { countOf } from "../../moment/numbers.ts";

export interface TurnOffDialogProps {
  readonly destination: Pick<Destination, "id" | "name">;
  readonly onClose: () => void;
  readonly onTurnOff: () => void;
}

/** Before a destination is turned off: what becomes of waiting deliveries and of new events, with their numbers. */
export function TurnOffDialog({ destination: { id, name }, onClose, onTurnOff }: TurnOffDialogProps) {
  const { data } = useQuery(asked("GET /v1/health/destinations/{id}", { params: { id } }));
  const total = data?.waiting?.total;
  return (
    <Dialog
      title={`Turn off ${name}?`}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Leave it on</Button>
          <Button look="primary" onPress={onTurnOff}>
            Turn off
          </Button>
        </>
      }
    >
      <p>{waitingWords(total)}</p>
      <p>
        Events that come while it is off are not kept for it, and cannot be sent later.
        {data !== undefined && ` In the last hour it took ${countOf(sum(data.lastHour.delivered))}.`}
      </p>
    </Dialog>
  );
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

/** `total`: undefined while it is not known. */
function waitingWords(total: number | undefined): string {
  if (total === undefined) return "What waits for it becomes dead letters, which can be sent again once it is on.";
  if (total === 0) return "Nothing waits for it now.";
  const [what, those] =
    total === 1 ? ["delivery waits", "it becomes a dead letter"] : ["deliveries wait", "they become dead letters"];
  return `${countOf(total)} ${what} for it: ${those}, which can be sent again once it is on.`;
}
