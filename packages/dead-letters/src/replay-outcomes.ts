/** The outcomes of the deliveries that replays sent. */
import { isPosthasteError } from "@posthaste/core/errors";
import type { ReadModel } from "@posthaste/read-model/read-model";

export interface ReplayOutcomes {
  /** How many were delivered. */
  readonly delivered: number;
  /** How many became dead letters again. */
  readonly failedAgain: number;
}

/** The outcomes of each replay; null while the delivery log cannot be asked. */
export async function replayOutcomes(
  readModel: Pick<ReadModel, "replayed">,
  replayIds: readonly string[],
): Promise<ReadonlyMap<string, ReplayOutcomes> | null> {
  const counts = await readModel.replayed(replayIds).catch((error: unknown) => {
    if (isPosthasteError(error)) return null;
    throw error;
  });
  if (counts === null) return null;
  const of = (id: string, wanted: string): number =>
    counts.find(({ replayId, state }) => replayId === id && state === wanted)?.count ?? 0;
  return new Map(
    replayIds.map((id) => [id, { delivered: of(id, "delivered"), failedAgain: of(id, "dead_letter") }] as const),
  );
}
