import type { EventVerdict } from "../../api/api-types.ts";
import { CopyButton } from "../../elements/copied.tsx";
import { ResendButton } from "../../resend/resend-button.tsx";
import { causeWords } from "../../verdict/cause.ts";
import { Mark } from "../../verdict/mark.tsx";
import { Sentence } from "../../verdict/sentence.tsx";
import styles from "./event-page.module.css";
import { RequestRecord } from "./request-record.tsx";
import { TurnOn } from "./turn-on.tsx";

type Verdict = EventVerdict["events"][number]["destinations"][number];

/** Where nothing was ever sent there is no record, and nothing to send again. */
const NEVER_SENT: ReadonlySet<Verdict["cause"]> = new Set(["destination_off", "integration_off", "in_pipeline"]);

export function wasSent({ cause }: Pick<Verdict, "cause">): boolean {
  return !NEVER_SENT.has(cause);
}

export interface DestinationVerdictProps {
  readonly verdict: Verdict;
  readonly messageId: string;
  readonly sourceId: string;
  readonly name: string;
  /** Where it waits, the verdict as a whole has the button that sends it. */
  readonly isSentAbove: boolean;
  /** The same of one that was off. */
  readonly isTurnedOnAbove: boolean;
}

/** The verdict of an event at one destination, its requests, and a button to send it once more. */
export function DestinationVerdict(props: DestinationVerdictProps) {
  const { verdict, messageId, sourceId, name, isSentAbove, isTurnedOnAbove } = props;
  const { destinationId, cause, sentence } = verdict;
  const { words, tone } = causeWords(cause);
  const again = tone === "waiting" ? "Send now" : "Send once more";
  return (
    <li>
      <div className={styles["line"]}>
        <a href={`/destinations/${destinationId}`} className={styles["name"]}>
          {name}
        </a>
        <CopyButton what="destination id" text={destinationId} />
        <Mark tone={tone}>{words}</Mark>
      </div>
      <p>
        <Sentence>{sentence}</Sentence>
      </p>
      {cause === "destination_off" && !isTurnedOnAbove && (
        <div className={styles["line"]}>
          <TurnOn destinationId={destinationId} name={name} />
        </div>
      )}
      {wasSent(verdict) && (
        <RequestRecord messageId={messageId} destinationId={destinationId} sourceId={sourceId} name={name}>
          {!(isSentAbove && tone === "waiting") && (
            <ResendButton delivery={{ messageId, destinationId, sourceId }} label={`${again} to ${name}`}>
              {again}
            </ResendButton>
          )}
        </RequestRecord>
      )}
    </li>
  );
}
