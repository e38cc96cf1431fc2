/** Why dead letters that fit are not sent, in words. */
import type { Replay } from "../../api/api-types.ts";

export type Skipped = Replay["leftOut"];

const WORDS: Readonly<Record<keyof Skipped, string>> = {
  deliveredSince: "delivered since",
  replayedBefore: "replayed before",
  suppressed: "stopped by a deletion request",
  destinationOff: "whose destination is off",
  destinationRemoved: "whose destination is no more",
  purged: "purged",
  expired: "past the topic's retention",
};

/** `41 delivered since, 2 purged`; empty for none. */
export function skippedWords(leftOut: Skipped): string {
  return (Object.keys(WORDS) as (keyof Skipped)[])
    .filter((cause) => leftOut[cause] > 0)
    .map((cause) => `${leftOut[cause].toLocaleString("en-GB")} ${WORDS[cause]}`)
    .join(", ");
}
