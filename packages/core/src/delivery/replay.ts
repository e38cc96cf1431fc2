/** Replays: dead letters that are sent again, as deliveries that know it. */
import { encodeHistory } from "./attempt-history.ts";
import type { DeadLetter } from "./dead-letter.ts";
import { type Delivery, type DeliveryProgress, NO_PROGRESS, type Replay } from "./delivery.ts";
import { NO_INCARNATION } from "./origin.ts";

/** The partition and the offset of an origin that nobody knows any more. */
const NOWHERE = -1;

/**
 * A delivery that is sent again: the same but for its origin's incarnation, so that nobody takes it for a repeat (O3).
 * Where in the events topic it came from stays, for information, where that is known.
 */
export function resentDelivery(delivery: Delivery, isKnown: boolean): Delivery {
  const { messageId, sourceId, destinationId, type, receivedAtMs, configOffset, body, event, restJson } = delivery;
  return {
    ...{ messageId, sourceId, destinationId, type, receivedAtMs, configOffset, body, event, restJson },
    originIncarnation: NO_INCARNATION,
    originPartition: isKnown ? delivery.originPartition : NOWHERE,
    originOffset: isKnown ? delivery.originOffset : NOWHERE,
  };
}

/** The delivery of a dead letter that is sent again. */
export function replayedDelivery(letter: DeadLetter): Delivery {
  // A letter from before `originTopic` says by its incarnation whether it knows where it came from.
  return resentDelivery(letter, letter.originTopic !== null || letter.originIncarnation !== NO_INCARNATION);
}

export interface ReplayTerms {
  readonly replayId: string;
  /** The dead letter's own place: topic/partition/offset; null where it was none. */
  readonly from: string | null;
  /** The URLs that the replay is to serve; null for all. */
  readonly urls: readonly string[] | null;
}

/**
 * The progress that a delivery starts with when it is sent again: a new retry window, attempts counted from 1 again,
 * and the history of all attempts before.
 */
export function replayedProgress(
  { history, replays }: Pick<DeadLetter, "history" | "replays">,
  { replayId, from, urls }: ReplayTerms,
): DeliveryProgress {
  const replay: Replay = { id: replayId, count: replays + 1, from };
  return { ...NO_PROGRESS, urls, history: encodeHistory(history), replay };
}

/** Whether a delivery names a place in the events topic; one that was replayed by an earlier release names none. */
export function isOriginKnown(
  { originIncarnation, originOffset }: Pick<Delivery, "originIncarnation" | "originOffset">,
  replay: Replay | null,
): boolean {
  return originIncarnation !== NO_INCARNATION || (replay !== null && originOffset !== NOWHERE);
}
