/**
 * Sends records to the brokers and waits for them, as long as a caller would.
 *
 * Owns: the calls that wait, the oldest first, and one timer while there are any. A timer for each call cost more than
 * all else that waiting takes.
 */
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

/** A call of `of` that is not answered yet. */
interface Waiting {
  readonly sinceMs: number;
  readonly resolve: (isAcknowledged: boolean) => void;
}

export class Acknowledgements {
  readonly #parts: AcknowledgeParts;
  readonly #timeoutMs: number;
  /** The calls that wait, in the order in which they began. */
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: AcknowledgeParts) {
    this.#parts = parts;
    this.#timeoutMs = parts.acknowledgeTimeoutMs ?? ACKNOWLEDGE_TIMEOUT_MS;
  }

  /** How many calls wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * True once every in-sync replica has every record. False when that takes too long, while the records may still be
   * written later; and false at once when a partition of theirs has taken nothing for as long.
   */
  of(records: readonly OutgoingRecord[]): Promise<boolean> {
    const { producer, clock } = this.#parts;
    return new Promise((resolve) => {
      const waiting: Waiting = { sinceMs: clock.monotonicMs(), resolve };
      this.#waiting.add(waiting);
      if (this.#timer === null) this.#wakeIn(this.#timeoutMs);
      // The producer refuses records for a partition that cannot be written at once, so that they pile up in neither
      // place.
      producer.send(records, { patienceMs: this.#timeoutMs }).then(
        () => this.#acknowledged(waiting),
        (error: unknown) => this.#refused(waiting, error),
      );
    });
  }

  #acknowledged(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    this.#parts.metrics.acknowledgeSeconds.record((this.#parts.clock.monotonicMs() - waiting.sinceMs) / 1000);
    waiting.resolve(true);
  }

  #refused(waiting: Waiting, error: unknown): void {
    this.#waiting.delete(waiting);
    if (!isPosthasteError(error, "broker_unavailable")) this.#parts.log.warn({ event: "send_refused", err: error });
    waiting.resolve(false);
  }

  #wakeIn(ms: number): void {
    this.#timer = setTimeout(this.#endOverdue, ms);
  }

  readonly #endOverdue = (): void => {
    this.#timer = null;
    const nowMs = this.#parts.clock.monotonicMs();
    for (const waiting of this.#waiting) {
      const leftMs = waiting.sinceMs + this.#timeoutMs - nowMs;
      // Timers may come a fraction of a millisecond early.
      if (leftMs >= 1) {
        this.#wakeIn(leftMs);
        return;
      }
      this.#waiting.delete(waiting);
      waiting.resolve(false);
    }
  };
}
