/**
 * The books of the canary: which events are on their way, and for how long.
 *
 * Owns: the events that this process sent and waits for, and the ids of the last ones that it gave up.
 * CY1  An event counts as sent when ingest answered 200. One without that answer is not waited for, so it is not lost.
 * CY2  Age is counted in ticks, which come every `TICK_MS` while the process runs. So neither a step of a clock nor a
 *      process that stood still makes an event late: such a process reads all arrivals before its next ticks.
 * CY3  An event counts as received once, and as late once: a repeat, one that was lost before, and one of another run
 *      of the process count as nothing.
 */
import type { Log } from "@posthaste/core/log";
import type { CanaryMetrics } from "./metrics.ts";

export const TICK_MS = 10_000;
/** The first tick after an answer may come at once, hence one more than the span has. */
const LATE_TICKS = 60_000 / TICK_MS + 1;
const LOST_TICKS = 300_000 / TICK_MS + 1;
/** The most lost events that are remembered, to say of one that it came after all. */
const MOST_LOST = 1000;

interface OnItsWay {
  readonly startedMs: number;
  /** Since ingest's answer; null before it. */
  ticks: number | null;
  /** When it came; null while it has not, or where ingest's answer may still come. */
  arrivedMs: number | null;
}

export interface CanaryLedgerOptions {
  readonly metrics: CanaryMetrics;
  readonly monotonicMs: () => number;
  readonly log: Log;
}

export class CanaryLedger {
  readonly #options: CanaryLedgerOptions;
  readonly #onItsWay = new Map<string, OnItsWay>();
  readonly #lost = new Set<string>();

  constructor(options: CanaryLedgerOptions) {
    this.#options = options;
  }

  /** The event is about to be sent. */
  begin(messageId: string): void {
    this.#onItsWay.set(messageId, { startedMs: this.#options.monotonicMs(), ticks: null, arrivedMs: null });
  }

  /** CY1. Ingest's answer to the event, or none. */
  answered(messageId: string, isTaken: boolean): void {
    const event = this.#onItsWay.get(messageId);
    if (event === undefined) return;
    if (!isTaken) {
      this.#onItsWay.delete(messageId);
      return;
    }
    this.#options.metrics.sent.inc();
    event.ticks = 0;
    // Delivery may be quicker than ingest's answer.
    if (event.arrivedMs !== null) this.#received(messageId, event, event.arrivedMs);
  }

  /** CY3. The event came back. */
  arrived(messageId: string): void {
    const event = this.#onItsWay.get(messageId);
    const nowMs = this.#options.monotonicMs();
    if (event === undefined) {
      const wasLost = this.#lost.delete(messageId);
      const found = { event: "canary_found", messageId };
      if (wasLost) this.#options.log.warn(found, "a canary event came that was counted as lost: it was slow");
    } else if (event.ticks === null) event.arrivedMs ??= nowMs;
    else this.#received(messageId, event, nowMs);
  }

  /** CY2. */
  tick(): void {
    const { metrics, log } = this.#options;
    for (const [messageId, event] of this.#onItsWay) {
      if (event.ticks === null) continue;
      event.ticks += 1;
      if (event.ticks === LATE_TICKS) {
        metrics.late.inc();
        log.warn({ event: "canary_late", messageId }, "a canary event is not back after a minute");
      }
      if (event.ticks < LOST_TICKS) continue;
      metrics.lost.inc();
      log.error({ event: "canary_lost", messageId }, "a canary event is not back after five minutes");
      this.#onItsWay.delete(messageId);
      this.#lost.add(messageId);
    }
    for (const messageId of this.#lost) {
      if (this.#lost.size <= MOST_LOST) break;
      this.#lost.delete(messageId);
    }
  }

  #received(messageId: string, { startedMs }: OnItsWay, nowMs: number): void {
    const { metrics } = this.#options;
    metrics.received.inc();
    metrics.roundTrip.observe((nowMs - startedMs) / 1000);
    this.#onItsWay.delete(messageId);
  }
}
