/** Finds and changes a destination that has to exist. */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Author } from "@posthaste/core/access/author";
import type { Destination } from "@posthaste/core/config/destination";
import type { Clock } from "@posthaste/core/time";
import { Problem } from "@posthaste/http-kit/problem";

/**
 * The table of destinations, which also looks in the topic for a destination that it has not heard of (NH1 of
 * late-records.ts).
 */
export type FindDestinations = Pick<ConfigStore<Destination>, "find">;

/** Rejects with the Problem `not_found`. */
export async function destinationOf(id: string, destinations: FindDestinations): Promise<Destination> {
  return findDestination(await destinations.find(id), id);
}

/** Throws the Problem `not_found`. */
export function findDestination(destination: Destination | undefined, id: string): Destination {
  if (destination === undefined) throw new Problem("not_found", `there is no destination ${id}`);
  return destination;
}

/** Throws the Problem `conflict` while this process cannot open the destination's secrets. */
export function assertOpened({ id, missingKeyIds }: Destination): void {
  if (missingKeyIds === null) return;
  const keys = missingKeyIds.join(", ");
  throw new Problem(
    "conflict",
    `the secrets of ${id} are under keys that are not among POSTHASTE_SECRET_KEYS here: ${keys}. Add them and restart, or remove the destination`,
  );
}

export interface DestinationChange {
  readonly id: string;
  readonly by: Author;
  readonly update: (destination: Destination) => Destination;
}

/** Changes and returns an existing destination. Throws a Problem for secrets that this process cannot open. */
export async function changeDestination(
  destinations: ConfigStore<Destination>,
  clock: Clock,
  { id, by, update }: DestinationChange,
): Promise<Destination> {
  const changed = await destinations.change(
    id,
    (current, revision) => {
      const destination = findDestination(current, id);
      assertOpened(destination);
      return { ...update(destination), revision, updatedAtMs: clock.nowMs() };
    },
    by,
  );
  return findDestination(changed, id);
}
