/**
 * The moments of a `Retry-After` that a retry record carries, by the clock of the process that reads it (W5).
 *
 * They were told by the clock of the process that wrote the record. A record that is due has waited for its topic's
 * delay, so that no more of a moment is left than was left when it was written, less the delay. Without this bound a
 * reader whose clock is an hour behind would wait for an hour longer.
 */
import type { DeliveryProgress } from "./delivery.ts";

export interface DueRecord {
  /** When the record was written, by the clock of its writer; null for a record that does not say. */
  readonly republishedAtMs: number | null;
  /** The delay of its topic. */
  readonly delayMs: number;
  /** Now, by the clock of its reader. */
  readonly nowMs: number;
}

/** Returns the progress of a record that is due, with its moments by the reader's clock. */
export function boundMoments(
  progress: DeliveryProgress,
  { republishedAtMs, delayMs, nowMs }: DueRecord,
): DeliveryProgress {
  const { notBeforeMs, urlsNotBeforeMs } = progress;
  if (republishedAtMs === null || (notBeforeMs === null && urlsNotBeforeMs === null)) return progress;
  const behindMs = republishedAtMs + delayMs - nowMs;
  if (behindMs <= 0) return progress;
  const ofUrls = Object.entries(urlsNotBeforeMs ?? {}).map(([url, momentMs]) => [url, momentMs - behindMs]);
  return {
    ...progress,
    notBeforeMs: notBeforeMs === null ? null : notBeforeMs - behindMs,
    urlsNotBeforeMs: urlsNotBeforeMs === null ? null : Object.fromEntries(ofUrls),
  };
}
