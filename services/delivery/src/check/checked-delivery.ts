/** A delivery that the check passed to admission, and the URLs that it owes. */

import type { Destination } from "@posthaste/core/config/destination";
import { type DeadUrl, NOT_ATTEMPTED, URL_REMOVED } from "@posthaste/core/delivery/dead-letter";
import type { Delivery, DeliveryProgress } from "@posthaste/core/delivery/delivery";
import type { Task } from "@posthaste/kafka/consumer/windowed-consumer";
import type { IncomingDelivery } from "../intake/incoming-delivery.ts";

/** There is one object for each delivery, from its check to the end of its attempt, since this is the hot path. */
export interface CheckedDelivery {
  readonly task: Task<IncomingDelivery>;
  readonly delivery: Delivery;
  readonly progress: DeliveryProgress;
  readonly isRetry: boolean;
  /** The URLs that are still owed; null for all. */
  readonly owed: readonly string[] | null;
  /** The destination as it was at the last check. */
  readonly destination: Destination;
  /** How many requests its attempt makes; URLs that the destination no longer has make none. */
  readonly requests: number;
}

export function toChecked(task: Task<IncomingDelivery>, delivery: Delivery, destination: Destination): CheckedDelivery {
  const { progress, isRetry } = task.item;
  const owed = progress.urls;
  return { task, delivery, progress, isRetry, owed, destination, requests: countRequests(destination, owed) };
}

/** Under `settle: each`: the URLs that are still owed and that the destination no longer has. */
export function removedUrls({ settle, urls }: Destination, owed: readonly string[] | null): readonly string[] {
  if (owed === null || settle !== "each") return [];
  return owed.filter((each) => urls.every(({ url }) => url !== each));
}

/**
 * The URLs that a delivery still owes when it is given up without an attempt. Its dead letter names them, so that a
 * replay calls no URL that was served; empty for a delivery that owes all of them. `destination` is undefined when it
 * was removed; URLs that an existing destination no longer has get an error of their own.
 */
export function owedUrls({ urls }: DeliveryProgress, destination: Destination | undefined): readonly DeadUrl[] {
  if (urls === null) return [];
  const removed = destination === undefined ? [] : removedUrls(destination, urls);
  return urls.map((url) => ({
    url,
    status: null,
    error: removed.includes(url) ? URL_REMOVED : NOT_ATTEMPTED,
    durationMs: 0,
  }));
}

function countRequests({ urls }: Destination, only: readonly string[] | null): number {
  return only === null ? urls.length : urls.filter(({ url }) => only.includes(url)).length;
}
