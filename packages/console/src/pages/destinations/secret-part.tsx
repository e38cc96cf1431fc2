/**
 * The shared secret, changed in stages so that no receiver sees a bad signature.
 *
 * SR1  A secret is made by the browser, sent once, shown once: it leaves the page when it is hidden, its stage is over
 *      or the part is left.
 * SR2  A step that the present stage does not allow is not offered; control decides all the same.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Destination } from "../../api/api-types.ts";
import { asked } from "../../api/asked.ts";
import { call } from "../../api/client.ts";
import { createSecret } from "../../destination-form/shared-secret.ts";
import { TestedUrls } from "../../destination-form/test-send.tsx";
import { Button } from "../../elements/button.tsx";
import { Copied } from "../../elements/copied.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { useMissingScope } from "../../session/session.ts";
import { EITHER_SECRET } from "../../snippets/either-secret.ts";
import { TabbedLines } from "../../snippets/tabbed-lines.tsx";
import styles from "./destinations-page.module.css";

type Step = "next" | "switch" | "undo" | "retire" | "replace";

const STAGES: Readonly<Record<Destination["secretStage"], string>> = {
  none: "Requests are not signed.",
  active: "Requests are signed by one secret.",
  next: [
    "The next secret is named; requests are still signed by the old one.",
    "Have the receiver accept both, then check it.",
  ].join(" "),
  switched: "Requests are signed by the new secret; the old one is kept, so that it can be gone back to.",
};

export function SecretPart({ destination }: { readonly destination: Destination }) {
  const { id, secretStage } = destination;
  const client = useQueryClient();
  const [shown, setShown] = useState<string | null>(null);
  const params = { id };
  const moving = useMutation({
    mutationFn: async (step: Step) => {
      const sharedSecret = step === "next" || step === "replace" ? createSecret() : "";
      setShown(null);
      const moved = await move(step, id, sharedSecret);
      if (sharedSecret !== "") setShown(sharedSecret);
      return moved;
    },
    onSuccess: (moved) => {
      client.setQueryData(asked("GET /v1/destinations/{id}", { params }).queryKey, moved);
      checking.reset();
    },
    onError: () => client.invalidateQueries({ queryKey: ["GET /v1/destinations/{id}"] }),
  });
  const checking = useMutation({
    mutationFn: () => call("POST /v1/destinations/{id}/test", { params, body: { signWith: "next" } }),
  });
  const isAccepted = checking.data?.urls.every(({ outcome }) => outcome === "delivered") ?? false;
  const unavailable = useMissingScope("write");
  const step = (name: Step, words: string, look: "primary" | "plain" = "plain") => (
    <Button look={look} isPending={moving.isPending} unavailable={unavailable} onPress={() => moving.mutate(name)}>
      {words}
    </Button>
  );
  return (
    <ol className={styles["steps"]}>
      <li>
        <p>{STAGES[secretStage]}</p>
        {secretStage === "none" && step("replace", "Sign by a new secret", "primary")}
        {secretStage === "active" && step("next", "Rotate", "primary")}
      </li>
      {shown !== null && (
        <li>
          <p>The new secret. It is not shown again.</p>
          <Copied what="new secret" text={shown} />
          <Button look="quiet" onPress={() => setShown(null)}>
            I have it: hide it
          </Button>
        </li>
      )}
      {secretStage === "next" && (
        <li>
          <p>
            A receiver that accepts either secret, until the old one is retired; the new one is its{" "}
            <code>NEXT_SHARED_SECRET</code>:
          </p>
          <TabbedLines languages={EITHER_SECRET} />
          <Button isPending={checking.isPending} unavailable={unavailable} onPress={() => checking.mutate()}>
            Check: send a test signed by the next secret
          </Button>
          {checking.data !== undefined && <TestedUrls urls={checking.data.urls} />}
          <p>
            {isAccepted
              ? "The receiver accepts it."
              : "Until a check was answered 2xx, a switch may have requests refused for their signature, and fail."}
          </p>
          {step("switch", isAccepted ? "Switch" : "Switch all the same", isAccepted ? "primary" : "plain")}
          {step("undo", "Forget the next secret")}
        </li>
      )}
      {secretStage === "switched" && (
        <li>
          {step("retire", "Retire the old secret", "primary")}
          {step("undo", "Go back to the old one")}
        </li>
      )}
      {secretStage !== "none" && (
        <li>
          <p>
            Leaked? A new secret at once: until the receiver has it, it may refuse requests for their signature. Those
            become dead letters, which can be sent again.
          </p>
          {step("replace", "Replace it at once")}
        </li>
      )}
      <Refusal error={moving.error ?? checking.error} />
    </ol>
  );
}

function move(step: Step, id: string, sharedSecret: string): Promise<Destination> {
  const params = { id };
  switch (step) {
    case "next":
      return call("POST /v1/destinations/{id}/secret/next", { params, body: { sharedSecret } });
    case "replace":
      return call("PATCH /v1/destinations/{id}", { params, body: { settings: { sharedSecret } } });
    case "switch":
      return call("POST /v1/destinations/{id}/secret/switch", { params, body: {} });
    case "undo":
      return call("POST /v1/destinations/{id}/secret/undo", { params, body: {} });
    case "retire":
      return call("POST /v1/destinations/{id}/secret/retire", { params, body: {} });
  }
}
