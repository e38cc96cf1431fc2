/**
 * The search for the places where gained partitions begin: it goes on until each was found, or the partitions are
 * another assignment's.
 */
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
  /** False once another assignment replaced the one that the partitions belong to. */
  readonly isCurrent: () => boolean;
  /** The brokers answered: they named the places of `found`; those of `leaderless` are asked for again. */
  readonly onAnswer: (found: readonly FoundPlace<P>[], leaderless: readonly P[]) => void;
  /** No waiting mends it. */
  readonly onFailure: (reason: Error) => void;
}

export interface FoundPlace<P extends TopicPartition> {
  readonly partition: P;
  readonly place: StartingPlace;
}

/** A new leader may answer with an old end for a moment; what is outside the log on so many looks is outside of it. */
const OUT_OF_RANGE_LOOKS = 3;

/** Resolves when every place was found, or nobody wants to know any more. Never rejects. */
export async function findPlaces<P extends TopicPartition>(
  gained: readonly P[],
  options: PlaceSearchOptions<P>,
): Promise<void> {
  const { connection, session, groupId, terms, isCurrent, onAnswer, onFailure } = options;
  let left = gained;
  for (let failures = 1; isCurrent() && left.length > 0; failures += 1) {
    try {
      const places = await locatePartitions(connection, session, left, terms);
      if (!isCurrent()) return;
      const found = matched(left, places);
      const leaderless = left.filter((partition) => !found.some((each) => each.partition === partition));
      onAnswer(found, leaderless);
      left = leaderless;
    } catch (error) {
      if (!isCurrent()) return;
      const looksAgain = isPosthasteError(error, "offset_out_of_range") && failures < OUT_OF_RANGE_LOOKS;
      if (isPosthasteError(error) && !error.retryable && !looksAgain) return onFailure(error);
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
