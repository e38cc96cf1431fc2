import type { EventVerdict } from "../../api/api-types.ts";
import { spanOf } from "../../moment/moment.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import styles from "./event-page.module.css";

type Step = EventVerdict["events"][number]["timeline"][number];

const STEP_WORDS: Readonly<Record<Step["what"], string>> = {
  received: "received",
  routed: "routed",
  rejected: "rejected",
  unrouted: "not routed",
  attempt: "attempt",
  deferred: "deferred",
  dead_letter: "dead letter",
};

export interface TimelineProps {
  readonly steps: readonly Step[];
  readonly nameOf: (id: string) => string;
}

/** What happened, oldest first, each with its distance from the one before. */
export function Timeline({ steps, nameOf }: TimelineProps) {
  return (
    <ol className={styles["timeline"]}>
      {steps.map((step, index) => {
        const before = steps[index - 1];
        const ms = before === undefined ? null : Date.parse(step.time) - Date.parse(before.time);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: two steps may be alike but for their places
          <li key={index}>
            <MomentText at={step.time} />
            <span className={styles["since"]}>{ms === null ? "" : `+${spanOf(ms)}`}</span>
            <span>
              <strong>{STEP_WORDS[step.what]}</strong> {step.detail}
              {step.destinationId !== null && <span className={styles["of"]}> {nameOf(step.destinationId)}</span>}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
