/** Sends the selected deliveries again, one after another, and says how many were refused. */
import { useMutation } from "@tanstack/react-query";
import type { ResendInput } from "../api/api-types.ts";
import { call } from "../api/client.ts";
import { Button } from "../elements/button.tsx";
import { countOf } from "../moment/numbers.ts";
import { useMissingScope } from "../session/session.ts";
import styles from "./resend.module.css";

/** More are sent by a replay, which is counted first. */
const MOST = 200;

export interface ResendSelectedProps {
  readonly deliveries: readonly ResendInput[];
  readonly onClear: () => void;
}

export function ResendSelected({ deliveries, onClear }: ResendSelectedProps) {
  const missingScope = useMissingScope("replay");
  const sending = useMutation({ mutationFn: sendEach });
  const tooMany = deliveries.length > MOST ? `at most ${MOST} at once: use "Send all matching again"` : null;
  return (
    <div className={styles["resend"]}>
      <strong>{countOf(deliveries.length)} selected</strong>
      <Button
        isPending={sending.isPending}
        unavailable={missingScope ?? tooMany}
        onPress={() => sending.mutate(deliveries)}
      >
        Send again
      </Button>
      <Button look="quiet" onPress={onClear}>
        Clear selection
      </Button>
      <span role="status">{sending.data !== undefined && sentWords(sending.data)}</span>
    </div>
  );
}

interface Sent {
  readonly accepted: number;
  /** Why each other one was refused. */
  readonly refusals: readonly string[];
}

async function sendEach(deliveries: readonly ResendInput[]): Promise<Sent> {
  const refusals: string[] = [];
  for (const body of deliveries) {
    try {
      await call("POST /v1/deliveries/resend", { body });
    } catch (error) {
      refusals.push(error instanceof Error ? error.message : String(error));
    }
  }
  return { accepted: deliveries.length - refusals.length, refusals };
}

/** `2 sent again, 1 refused: its record is past its retention`. */
function sentWords({ accepted, refusals }: Sent): string {
  const sent = `${countOf(accepted)} sent again`;
  if (refusals.length === 0) return `${sent}.`;
  return `${sent}, ${countOf(refusals.length)} refused: ${[...new Set(refusals)].join("; ")}.`;
}
