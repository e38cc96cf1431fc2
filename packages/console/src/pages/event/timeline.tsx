import type { EventVerdict } from "../../api/api-types.ts";
import { distance, spanOf } from "../../moment/moment.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { useNow } from "../../moment/zone.ts";
import { Sentence } from "../../verdict/sentence.tsx";
import styles from "./event-page.module.css";

type Step = EventVerdict["events"][number]["timeline"][number];
type Coming = Pick<EventVerdict["events"][number]["destinations"][number], "destinationId" | "due" | "cause">;

const STEP_WORDS: Readonly<Record<Step["what"], string>> = {
  received: "received",
  routed: "routed",
  rejected: "not accepted",
  unrouted: "not sent",
  attempt: "attempt",
  deferred: "waits",
  dead_letter: "failed",
};

export interface TimelineProps {
  readonly steps: readonly Step[];
  /** The next steps by themselves, by destination. */
  readonly coming?: readonly Coming[];
  readonly nameOf: (id: string) => string;
}

/**
 * The past steps, oldest first, each with its distance from the one before; then the next ones. Codes, offsets and ids
 * of a step are its title.
 */
export function Timeline({ steps, coming = [], nameOf }: TimelineProps) {
  const now = useNow();
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
            <span title={step.note ?? undefined}>
              <strong>{STEP_WORDS[step.what]}</strong> <Sentence>{step.detail}</Sentence>
              {step.destinationId !== null && <span className={styles["of"]}> {nameOf(step.destinationId)}</span>}
            </span>
          </li>
        );
      })}
      {coming.map(
        ({ destinationId, due, cause }) =>
          due !== null && (
            <li key={destinationId} className={styles["coming"]}>
              <MomentText at={due} />
              <span className={styles["since"]}>{distance(new Date(due), now)}</span>
              <span>
                <span aria-hidden>◌ </span>
                <strong>{cause === "deferred" ? "looked at again" : "next attempt"}</strong>
                <span className={styles["of"]}> {nameOf(destinationId)}</span>
              </span>
            </li>
          ),
      )}
    </ol>
  );
}
