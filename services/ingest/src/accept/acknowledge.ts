/** Handing records to the brokers, and waiting as long as a caller would. */
import { isPosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { OutgoingRecord, Producer } from "@posthaste/kafka/producer/producer";
import { ACKNOWLEDGE_TIMEOUT_MS } from "../limits.ts";
import type { IngestMetrics } from "../metrics.ts";

export interface AcknowledgeParts {
  readonly producer: Pick<Producer, "send">;
  readonly acknowledgeTimeoutMs?: number | undefined;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly metrics: Pick<IngestMetrics, "acknowledgeSeconds">;
  readonly log: Log;
}

/**
 * True once every in-sync replica has every record; false when that takes too long, and they may still be written
 * later, or at once when a partition of theirs has taken nothing for as long.
 */
export type Acknowledge = (records: readonly OutgoingRecord[]) => Promise<boolean>;

export function createAcknowledge(parts: AcknowledgeParts): Acknowledge {
  const { producer, clock, metrics, log, acknowledgeTimeoutMs = ACKNOWLEDGE_TIMEOUT_MS } = parts;
  return (records) =>
    new Promise((resolve) => {
      const startedMs = clock.monotonicMs();
      const timer = setTimeout(() => resolve(false), acknowledgeTimeoutMs);
      // A partition that cannot be written refuses its own calls at once, so that they pile up neither here nor there.
      producer.send(records, { patienceMs: acknowledgeTimeoutMs }).then(
        () => {
          clearTimeout(timer);
          metrics.acknowledgeSeconds.observe((clock.monotonicMs() - startedMs) / 1000);
          resolve(true);
        },
        (error: unknown) => {
          clearTimeout(timer);
          if (!isPosthasteError(error, "broker_unavailable")) log.warn({ event: "send_refused", err: error });
          resolve(false);
        },
      );
    });
}
