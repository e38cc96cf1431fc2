/**
 * The load context of a delivery: whether its destination is alone, and how full its window is.
 *
 * Owns: the moment at which a request to any destination last had its outcome.
 */
import type { LoadContext } from "@posthaste/core/isolation/load-context";
import type { PartitionWindow } from "@posthaste/kafka/consumer/windowed-consumer";
import type { ActiveDestinations } from "./active-destinations.ts";

/** A window counts as filling from this share of its records on. */
const FILLING = 0.75;
/**
 * Other destinations get deliveries through when a request had its outcome within this time. Without any for longer,
 * the fault may be this process's or its network's.
 */
const GETTING_THROUGH_MS = 200;

export class Load {
  readonly #destinations: ActiveDestinations;
  readonly #monotonicMs: () => number;
  #outcomeMs = Number.NEGATIVE_INFINITY;

  constructor(destinations: ActiveDestinations, monotonicMs: () => number) {
    this.#destinations = destinations;
    this.#monotonicMs = monotonicMs;
  }

  /** A request to some destination had its outcome, at `nowMs` of the monotonic clock. */
  noteOutcome(nowMs: number): void {
    this.#outcomeMs = nowMs;
  }

  contextOf(window: PartitionWindow, destinationId: string): LoadContext {
    const nowMs = this.#monotonicMs();
    const fills = isFilling(window);
    return {
      isAlone: this.#destinations.isAlone(destinationId, nowMs),
      isFilling: fills,
      isCrowding: window.isFull && window.ownedBy(destinationId) * 2 > window.records,
      isScarce: fills && nowMs - this.#outcomeMs <= GETTING_THROUGH_MS,
    };
  }
}

/**
 * Whether the window can take few more records. That is so before the window is full, so that deliveries that wait
 * never take the last places that others need; and no sooner, since a window that takes records in keeps nobody out.
 */
export function isFilling(window: PartitionWindow): boolean {
  return window.records > window.maxRecords * FILLING;
}
