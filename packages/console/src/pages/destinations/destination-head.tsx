import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { TestSend } from "../../destination-form/test-send.tsx";
import { Button } from "../../elements/button.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { useMissingScope } from "../../session/session.ts";
import { HEALTH_WORDS } from "../../status/health-words.ts";
import { Mark } from "../../verdict/mark.tsx";
import styles from "./destinations-page.module.css";
import { TurnOffDialog } from "./turn-off-dialog.tsx";

/** Beside a destination's name, whatever part of it is shown: how it is, on or off, and a test. */
export function DestinationHead({ destination }: { readonly destination: Destination }) {
  const { enabled, name } = destination;
  const [open, setOpen] = useState<"off" | "test" | null>(null);
  const missingScope = useMissingScope("write");
  const switching = useSwitching(destination);
  const close = (): void => setOpen(null);
  return (
    <>
      <State destination={destination} />
      <Button
        isPending={switching.isPending}
        unavailable={missingScope}
        onPress={() => (enabled ? setOpen("off") : switching.mutate(true))}
      >
        {enabled ? "Turn off" : "Turn on"}
      </Button>
      <Button unavailable={missingScope} onPress={() => setOpen("test")}>
        Send test
      </Button>
      <Refusal error={switching.error} />
      {open === "off" && (
        <TurnOffDialog
          destination={destination}
          onClose={close}
          onTurnOff={() => {
            close();
            switching.mutate(false);
          }}
        />
      )}
      {open === "test" && (
        <Dialog
          title={`Send a test to ${name}`}
          isOpen
          onClose={close}
          actions={<Button onPress={close}>Close</Button>}
        >
          <TestSend destination={destination} />
        </Dialog>
      )}
    </>
  );
}

/** As wide in any state, so that nothing moves when it is known. */
function State({ destination: { id, enabled } }: { readonly destination: Destination }) {
  const { data, isPending } = useQuery({
    ...asked("GET /v1/health/destinations/{id}", { params: { id } }),
    retry: false,
  });
  const [words, tone] = !enabled
    ? HEALTH_WORDS.off
    : data === undefined || data.state === "off"
      ? (["on", "good"] as const)
      : HEALTH_WORDS[data.state];
  return <span className={styles["headState"]}>{(!isPending || !enabled) && <Mark tone={tone}>{words}</Mark>}</span>;
}

/** By the revision that is shown. */
function useSwitching({ id, revision }: Destination) {
  const client = useQueryClient();
  const params = { id };
  return useMutation({
    mutationFn: (enabled: boolean) => call("PATCH /v1/destinations/{id}", { params, body: { revision, enabled } }),
    onSuccess: (saved) => {
      client.setQueryData(asked("GET /v1/destinations/{id}", { params }).queryKey, saved);
      void client.invalidateQueries({ queryKey: ["GET /v1/health/destinations/{id}"] });
      void client.invalidateQueries({ queryKey: ["GET /v1/destinations"] });
      void client.invalidateQueries({ queryKey: ["GET /v1/audit"] });
    },
    // Somebody else changed it meanwhile: their version is shown then.
    onError: () => client.invalidateQueries({ queryKey: ["GET /v1/destinations/{id}"] }),
  });
}
