/** Attempts in words. */
import type { DeliveryPage, EventVerdict } from "../../api/api-types.ts";

type Attempt = DeliveryPage["data"][number];
type SentByHand = EventVerdict["events"][number]["sentByHand"];

/** The outcome of an attempt, and its follow-ups. */
export function attemptWords({ attempt, outcome, followUps }: Attempt): string {
  return `attempt ${attempt}: ${outcomeWords(outcome, followUps)}`;
}

function outcomeWords(outcome: Attempt["outcome"], followUps: Attempt["followUps"]): string {
  switch (outcome) {
    case "delivered":
      return "delivered";
    case "retryable":
      return followUps.some(({ kind }) => kind === "dead_letter") ? "failed for good" : "failed, tried again";
    case "permanent":
      return "rejected";
    case "other":
      return "unknown outcome";
  }
}

/** The sender of a resend; a resend of a moment ago has no name yet. */
export function sentByWords(replayId: string, sentByHand: SentByHand): string {
  if (!replayId.startsWith("rsd_")) return "by a replay";
  const known = sentByHand.find((each) => each.replayId === replayId);
  return known === undefined ? "by hand" : `by hand, by ${known.by ?? "whom the audit does not know"}`;
}
