import type { ReplayStart } from "../../api/api-types.ts";
import { MomentText } from "../../moment/moment-text.tsx";
import { ResendButton } from "../../resend/resend-button.tsx";
import styles from "./replay.module.css";

/** Samples of the counted dead letters; one can be sent alone first, to see the receiver's answer. */
export function PlanSamples({ samples }: Pick<ReplayStart, "samples">) {
  const [first] = samples;
  return (
    <section aria-label="Samples" className={styles["part"]}>
      <h2>Samples</h2>
      <ul className={styles["samples"]}>
        {samples.map(({ place, time, messageId, type, reason }) => (
          <li key={place}>
            <MomentText at={time} />
            <span>
              {type}, {reason.replaceAll("_", " ")}
            </span>
            <a href={`/events/${encodeURIComponent(messageId)}`}>
              <code>{messageId}</code>
            </a>
          </li>
        ))}
      </ul>
      {first !== undefined && (
        <ResendButton delivery={{ messageId: first.messageId, destinationId: first.destinationId }} isOnce>
          Send one first
        </ResendButton>
      )}
    </section>
  );
}
