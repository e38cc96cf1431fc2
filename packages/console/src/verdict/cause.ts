/** Causes of a verdict in words, and how each is to be taken. */
import type { EventVerdict } from "../api/api-types.ts";

export type Cause = EventVerdict["cause"];
/** The meaning of a mark: arrived, waiting by itself, needs attention, switched off. */
export type Tone = "good" | "waiting" | "bad" | "off";

interface CauseWords {
  readonly words: string;
  readonly tone: Tone;
}

const CAUSES: Readonly<Record<Cause, CauseWords>> = {
  refused: { words: "Refused at intake", tone: "bad" },
  rejected_in_batch: { words: "Rejected within a batch", tone: "bad" },
  dead_letter: { words: "Failed", tone: "bad" },
  lost: { words: "Lost", tone: "bad" },
  destination_off: { words: "The destination was off", tone: "off" },
  no_destination: { words: "No destination", tone: "off" },
  integration_off: { words: "Switched off by the call itself", tone: "off" },
  suppressed: { words: "Stopped by a deletion request", tone: "off" },
  waiting_retry: { words: "Retrying", tone: "waiting" },
  deferred: { words: "Waiting", tone: "waiting" },
  in_pipeline: { words: "In progress", tone: "waiting" },
  unknown: { words: "Unknown", tone: "off" },
  duplicate_of: { words: "A repeat", tone: "good" },
  delivered_elsewhere: { words: "Delivered", tone: "good" },
  delivered: { words: "Delivered", tone: "good" },
};

/** While control still reads its logs, a missing fact may yet be found. */
const UNREAD: CauseWords = { words: "Not known yet", tone: "waiting" };

/** Of a verdict as a whole. */
export function verdictWords({ cause, complete }: Pick<EventVerdict, "cause" | "complete">): CauseWords {
  return cause === "unknown" && !complete ? UNREAD : causeWords(cause);
}

export function causeWords(cause: Cause): CauseWords {
  return CAUSES[cause];
}
