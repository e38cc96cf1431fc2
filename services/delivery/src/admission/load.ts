/**
 * What is going on around a destination, for the policy of its admission: whether it is alone, and how full a window
 * is.
 *
 * Owns: the moment at which a request of any destination had its outcome last.
 */
import type { LoadContext } from "@posthaste/core/isolation/load-context";
import type { PartitionWindow } from "@posthaste/kafka/consumer/windowed-consumer";
import type { ActiveDestinations } from "./active-destinations.ts";

/** A window counts as filling from this share of its records on. */
const FILLING = 0.75;
/** When no request at all had an outcome for longer, the fault may be this process's or its network's. */
const GETTING_THROUGH_MS = 200;

export class Load {
  readonly #destinations: ActiveDestinations;
  readonly #monotonicMs: () => number;
  #outcomeMs = Number.NEGATIVE_INFINITY;

  constructor(destinations: ActiveDestinations, monotonicMs: () => number) {
    this.#destinations = destinations;
    this.#monotonicMs = monotonicMs;
  }

  /** A request of some destination had its outcome, at `nowMs` of the monotonic clock. */
  noteOutcome(nowMs: number): void {
    this.#outcomeMs = nowMs;
  }

  contextOf(window: PartitionWindow, destinationId: string): LoadContext {
    const nowMs = this.#monotonicMs();
    const fills = isFilling(window);
    return {
      isAlone: this.#destinations.isAlone(nowMs),
      isFilling: fills,
      isCrowding: window.isFull && window.ownedBy(destinationId) * 2 > window.records,
      isScarce: fills && nowMs - this.#outcomeMs <= GETTING_THROUGH_MS,
    };
  }
}

/**
 * True when the window has room for few more records. It is true before the window is full, so that admission never
 * takes the places that others need, and not sooner, since nobody stands behind a window that takes records in.
 */
export function isFilling(window: PartitionWindow): boolean {
  return window.records > window.maxRecords * FILLING;
}
