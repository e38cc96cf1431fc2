import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Destination } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { useMissingScope } from "../../session/session.ts";
import styles from "./connect.module.css";

/** The services know of a change a second after it was saved. */
const LIVE_AFTER_MS = 1000;
/** A new key that ingest does not know by then is wrong. */
const KNOWN_AFTER_MS = 5000;
const AGAIN_MS = 250;

export interface SampleEventProps {
  readonly destination: Destination;
  readonly sourceId: string;
  readonly onSent: (messageId: string) => void;
  /** One was sent, or came, before. */
  readonly isAnother?: boolean;
  /** It takes the focus: also the focus of the button that stood there before it. */
  readonly isFocused?: boolean;
}

/** Sends one made-up call by the source's own key, once the configuration is live. */
export function SampleEvent(props: SampleEventProps) {
  const { destination, sourceId, onSent, isAnother = false, isFocused = true } = props;
  const missingScope = useMissingScope("write");
  const isLive = useIsLive(destination);
  const sending = useMutation({
    mutationFn: async () => {
      await waitUntil(Date.parse(destination.updatedAt) + LIVE_AFTER_MS);
      return sendSample(sourceId, Date.now() + KNOWN_AFTER_MS);
    },
    onSuccess: (answer) => {
      if (answer.taken) onSent(answer.messageId);
    },
  });
  const { data, error } = sending;
  const refusal =
    error?.message ?? (data === undefined || data.taken ? null : (data.message ?? `it was answered ${data.status}`));
  return (
    <>
      <Button
        {...(isAnother ? {} : { look: "primary" as const })}
        autoFocus={isFocused}
        isPending={sending.isPending}
        unavailable={missingScope}
        onPress={() => sending.mutate()}
      >
        {isAnother ? "Send another sample event" : "Send a sample event"}
      </Button>
      {!isLive && (
        <p className={styles["detail"]}>The services take up to a second to know of it: a sample waits for that.</p>
      )}
      {refusal !== null && <p role="alert">It was not sent: {refusal}.</p>}
    </>
  );
}

/** Ingest learns of a new source within a second; until then it refuses its key. */
async function sendSample(sourceId: string, untilMs: number) {
  for (;;) {
    const answer = await call("POST /v1/sources/{id}/sample", { params: { id: sourceId }, body: { type: "track" } });
    if (answer.taken || answer.status !== 401 || Date.now() > untilMs) return answer;
    await waitUntil(Date.now() + AGAIN_MS);
  }
}

function useIsLive({ updatedAt }: Destination): boolean {
  const leftMs = Date.parse(updatedAt) + LIVE_AFTER_MS - Date.now();
  const [isLive, setLive] = useState(leftMs <= 0);
  useEffect(() => {
    if (isLive) return;
    const timer = setTimeout(() => setLive(true), leftMs);
    return () => clearTimeout(timer);
  }, [isLive, leftMs]);
  return isLive;
}

/** At most `LIVE_AFTER_MS`, whatever the clocks of the two machines say. */
function waitUntil(atMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.min(LIVE_AFTER_MS, Math.max(0, atMs - Date.now())));
  });
}
