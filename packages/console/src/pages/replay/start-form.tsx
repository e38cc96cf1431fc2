import { useMutation } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { Form } from "react-aria-components";
import type { ReplayStart } from "../../api/api-types.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../elements/button.tsx";
import { Choice } from "../../elements/choice.tsx";
import { Field } from "../../elements/field.tsx";
import { Refusal } from "../../elements/refusal.tsx";
import { spanOf } from "../../moment/moment.ts";
import { useMissingScope } from "../../session/session.ts";
import styles from "./replay.module.css";

/** Beyond so many a press is too easily made (PV2 of review-page.tsx). */
const MANY = 10_000;

const RATES = [
  ["10", "10 a second"],
  ["100", "100 a second"],
  ["1000", "1,000 a second"],
  ["", "as fast as they are taken"],
] as const;

export interface StartFormProps {
  readonly plan: ReplayStart;
  /** The name of the destination where all are of one. */
  readonly target: string | null;
}

/** How fast, how long that takes, and the press that begins it. */
export function StartForm({ plan: { plan, matched }, target }: StartFormProps) {
  const router = useRouter();
  const missingScope = useMissingScope("replay");
  const [rate, setRate] = useState<(typeof RATES)[number][0]>("100");
  const [typed, setTyped] = useState("");
  const words = matched.toLocaleString("en-GB");
  const wanted = target ?? String(matched);
  const isMany = matched > MANY;
  const starting = useMutation({
    mutationFn: () =>
      call("POST /v1/replays", {
        body: { plan: plan ?? "", ...(rate === "" ? {} : { ratePerSecond: Number(rate) }) },
      }),
    onSuccess: ({ id }) => router.history.push(`/replays/${id}`),
  });
  const isTyped = !isMany || typed.trim() === wanted;
  const untyped = target === null ? "type their number first" : "type the destination's name first";
  const unavailable = missingScope ?? (isTyped ? null : untyped);
  return (
    <Form
      className={styles["start"] ?? ""}
      onSubmit={(event) => {
        event.preventDefault();
        if (unavailable === null && !starting.isPending) starting.mutate();
      }}
    >
      <div className={styles["rate"]}>
        <Choice label="Rate" value={rate} choices={RATES} onChange={setRate} />
        <span className={styles["detail"]}>
          {rate === "" ? "no limit" : `about ${spanOf(Math.max(1, Math.ceil(matched / Number(rate))) * 1000)}`}
        </span>
      </div>
      {isMany && (
        <Field
          label={target === null ? `Type ${wanted}, their number` : `Type ${wanted}, the destination's name`}
          value={typed}
          onChange={setTyped}
          autoComplete="off"
        />
      )}
      <Button type="submit" look="primary" isPending={starting.isPending} unavailable={unavailable}>
        Replay {words}
      </Button>
      <Refusal error={starting.error} />
    </Form>
  );
}
