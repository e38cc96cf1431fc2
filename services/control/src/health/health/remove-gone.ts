/** Removes the health records of processes that are gone. */
import { destinationHealthKey, processHealthKey } from "@posthaste/contracts/health-keys";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Log } from "@posthaste/core/log";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import type { Producer } from "@posthaste/kafka/producer/producer";

/** How long the brokers may take for the records of one process, in ms. */
export const REMOVAL_MS = 30_000;

export interface RemovalParts {
  readonly producer: Pick<Producer, "send">;
  readonly names: Pick<TopicNames, "destinationHealth">;
  readonly log: Log;
}

/**
 * `gone`: the destinations that each process that is gone reported, by the process. Begins with no further process once
 * `signal` is aborted. Rejects where the brokers do not answer in time; what is left is then removed by another call.
 */
export async function removeGone(
  gone: ReadonlyMap<string, readonly string[]>,
  { producer, names, log }: RemovalParts,
  signal: AbortSignal,
): Promise<void> {
  for (const [instance, destinationIds] of gone) {
    if (signal.aborted) return;
    const keys = destinationIds.map((id) => destinationHealthKey(id, instance));
    const records = [...keys, processHealthKey(instance)].map((key) => ({
      ...{ topic: names.destinationHealth, key },
      value: null,
    }));
    await withDeadline(producer.send(records), REMOVAL_MS, "removing health records");
    log.info({ event: "health_removed", instance, destinations: destinationIds.length });
  }
}
