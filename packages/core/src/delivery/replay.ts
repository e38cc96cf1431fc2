/** Replays: how a dead letter becomes a delivery again. */
import { encodeHistory } from "./attempt-history.ts";
import type { DeadLetter } from "./dead-letter.ts";
import { type Delivery, type DeliveryProgress, NO_PROGRESS, type Replay } from "./delivery.ts";
import { NO_TOPIC_GENERATION } from "./origin.ts";

/** The partition and the offset of an origin that is not known any more. */
const NOWHERE = -1;

/**
 * The delivery to send again: the same without its origin's topic generation, so that it never counts as a repeat (O3
 * of origin.ts). Its place in the events topic stays, for information, where it is known.
 */
export function resentDelivery(delivery: Delivery, isKnown: boolean): Delivery {
  const { messageId, sourceId, destinationId, type, receivedAtMs, configOffset, body, event, restJson } = delivery;
  return {
    ...{ messageId, sourceId, destinationId, type, receivedAtMs, configOffset, body, event, restJson },
    originIncarnation: NO_TOPIC_GENERATION,
    originPartition: isKnown ? delivery.originPartition : NOWHERE,
    originOffset: isKnown ? delivery.originOffset : NOWHERE,
  };
}

/** The delivery of a dead letter that is sent again. */
export function replayedDelivery(deadLetter: DeadLetter): Delivery {
  // A dead letter from before `originTopic` says by its topic generation whether it knows where it came from.
  return resentDelivery(
    deadLetter,
    deadLetter.originTopic !== null || deadLetter.originIncarnation !== NO_TOPIC_GENERATION,
  );
}

export interface ReplayTerms {
  readonly replayId: string;
  /** The place of the dead letter, as topic/partition/offset; null for a delivery that was none. */
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

/** Whether a delivery names its place in the events topic. One that an earlier release replayed names none. */
export function isOriginKnown(
  { originIncarnation, originOffset }: Pick<Delivery, "originIncarnation" | "originOffset">,
  replay: Replay | null,
): boolean {
  return originIncarnation !== NO_TOPIC_GENERATION || (replay !== null && originOffset !== NOWHERE);
}
