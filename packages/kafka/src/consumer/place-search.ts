/** Searches the places where gained partitions begin, until each was found or another assignment replaced theirs. */
import { isPosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "../connection/connect.ts";
import { pause, retryPauseMs } from "../connection/deadline.ts";
import type { GroupSession } from "./group-session.ts";
import {
  isSamePartition,
  locatePartitions,
  type StartingPlace,
  type StartingTerms,
  type TopicPartition,
} from "./rebalance.ts";

export interface PlaceSearchOptions<P extends TopicPartition> {
  readonly connection: KafkaConnection;
  readonly session: Pick<GroupSession, "committed">;
  readonly groupId: string;
  readonly terms: StartingTerms;
  /** False once another assignment replaced the one that gained the partitions. */
  readonly isCurrent: () => boolean;
  /** The brokers answered, with the places of `found`. The search goes on for `leaderless`. */
  readonly onAnswer: (found: readonly FoundPlace<P>[], leaderless: readonly P[]) => void;
  /** The search failed for a reason that waiting does not mend. */
  readonly onFailure: (reason: Error) => void;
}

export interface FoundPlace<P extends TopicPartition> {
  readonly partition: P;
  readonly place: StartingPlace;
}

/**
 * So many tries with an offset outside the log end the search. Before, the search tries again: a new leader may answer
 * with an old end offset for a moment. Tries that failed for another reason do not count, and an answer begins the
 * count anew: the partitions that it left out get their leaders later.
 */
const OUT_OF_RANGE_TRIES = 3;

/** Resolves when every place was found, or another assignment replaced theirs. Never rejects. */
export async function findPlaces<P extends TopicPartition>(
  gained: readonly P[],
  options: PlaceSearchOptions<P>,
): Promise<void> {
  const { connection, session, groupId, terms, isCurrent, onAnswer, onFailure } = options;
  let left = gained;
  let outOfRange = 0;
  for (let failures = 1; isCurrent() && left.length > 0; failures += 1) {
    try {
      const places = await locatePartitions(connection, session, left, terms);
      if (!isCurrent()) return;
      const found = matched(left, places);
      const leaderless = left.filter((partition) => !found.some((each) => each.partition === partition));
      onAnswer(found, leaderless);
      left = leaderless;
      outOfRange = 0;
    } catch (error) {
      if (!isCurrent()) return;
      if (isPosthasteError(error, "offset_out_of_range")) outOfRange += 1;
      const triesAgain = isPosthasteError(error, "offset_out_of_range") && outOfRange < OUT_OF_RANGE_TRIES;
      if (isPosthasteError(error) && !error.retryable && !triesAgain) return onFailure(error);
      connection.log.debug({ event: "places_unknown", group: groupId, failures, err: error });
    }
    if (left.length > 0) await pause(retryPauseMs(failures));
  }
}

function matched<P extends TopicPartition>(
  partitions: readonly P[],
  places: readonly StartingPlace[],
): readonly FoundPlace<P>[] {
  return partitions.flatMap((partition) => {
    const place = places.find((each) => isSamePartition(each, partition));
    return place === undefined ? [] : [{ partition, place }];
  });
}
