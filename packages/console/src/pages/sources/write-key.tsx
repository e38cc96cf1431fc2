import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Source } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Choice } from "../../elements/choice.tsx";
import { CopyButton } from "../../elements/copied.tsx";
import { Dialog } from "../../elements/dialog.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { shortKey } from "../../elements/short-text.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { useMissingScope } from "../../session/session.ts";
import styles from "./sources-page.module.css";

const KEPT = [
  ["3600", "an hour"],
  ["86400", "a day"],
  ["604800", "a week"],
  ["0", "not at all: it is known to somebody who should not"],
] as const;

/** The key that the source's calls are sent with, and its rotation: the old one is taken on until it ends. */
export function WriteKey({ source }: { readonly source: Source }) {
  const { writeKey, oldWriteKeys } = source;
  const [isRotating, setRotating] = useState(false);
  const unavailable = useMissingScope("write");
  return (
    <section className={styles["part"]} aria-label="Write key">
      <div className={styles["key"]}>
        <h2>Write key</h2>
        <KeyText key={writeKey} writeKey={writeKey} isWhole={unavailable === null} />
        <Button unavailable={unavailable} onPress={() => setRotating(true)}>
          Rotate
        </Button>
      </div>
      {oldWriteKeys.map((old) => (
        <p key={old.writeKey} className={styles["detail"]}>
          <code>{shortKey(old.writeKey)}</code> is taken until <MomentText at={old.expiresAt} withDistance />
        </p>
      ))}
      {isRotating && <RotateDialog source={source} onClose={() => setRotating(false)} />}
    </section>
  );
}

interface KeyTextProps {
  readonly writeKey: string;
  /** A token that may only read gets the beginning of it: there is nothing to show or to copy. */
  readonly isWhole: boolean;
}

/** As short as it is known again by, until it is asked for; it is copied whole. */
function KeyText({ writeKey, isWhole }: KeyTextProps) {
  const [isShown, setShown] = useState(false);
  if (!isWhole) return <code>{shortKey(writeKey)}</code>;
  return (
    <>
      <code>{isShown ? writeKey : shortKey(writeKey)}</code>
      <CopyButton what="write key" text={writeKey} />
      <Button
        look="quiet"
        aria-label={isShown ? "Hide the write key" : "Show the write key"}
        onPress={() => setShown(!isShown)}
      >
        {isShown ? "Hide" : "Show"}
      </Button>
    </>
  );
}

function RotateDialog({ source, onClose }: { readonly source: Source; readonly onClose: () => void }) {
  const client = useQueryClient();
  const [kept, setKept] = useState<(typeof KEPT)[number][0]>("86400");
  const params = { id: source.id };
  const rotating = useMutation({
    mutationFn: () => call("POST /v1/sources/{id}/write-key", { params, body: { oldKeySeconds: Number(kept) } }),
    onSuccess: (rotated) => {
      client.setQueryData(asked("GET /v1/sources/{id}", { params }).queryKey, rotated);
      onClose();
    },
  });
  return (
    <Dialog
      title="Rotate the write key"
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Leave it</Button>
          <Button look="primary" isPending={rotating.isPending} onPress={() => rotating.mutate()}>
            Rotate
          </Button>
        </>
      }
    >
      <Choice label="The old key is taken on for" value={kept} choices={KEPT} onChange={setKept} />
      <Refusal error={rotating.error} />
    </Dialog>
  );
}
