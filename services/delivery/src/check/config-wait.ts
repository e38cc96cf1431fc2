/**
 * The wait of deliveries for the destinations that they were routed by (V1): a table that lags would take a new destination
 * for a removed one.
 *
 * Owns: one wait for each config offset that deliveries wait for, however many they are.
 * G1  A delivery goes on when the table has read its offset. A topic that was made anew never reaches it: then its present
 *     end is as far as anyone can read.
 * G2  A table that does not answer is asked again after a pause, once an offset and not once a delivery.
 * G3  After `close` nothing is asked and nothing goes on: what waits stays in its window, to be read again.
 */
import type { Destination } from "@posthaste/core/config/destination";
import type { Log } from "@posthaste/core/log";
import { pause } from "@posthaste/kafka/connection/deadline";
import type { Table } from "@posthaste/kafka/log/table";

const PATIENCE_MS = 5000;
/** A table that refuses at once, as a closed one does, is asked so seldom. */
const PAUSE_MS = 1000;

export interface ConfigWaitOptions {
  readonly destinations: Pick<Table<Destination>, "appliedOffset" | "waitForOffset" | "refresh">;
  readonly log: Log;
  readonly pauseMs?: number;
}

export class ConfigWait {
  readonly #options: ConfigWaitOptions;
  readonly #waiting = new Map<number, (() => void)[]>();
  readonly #closing = new AbortController();

  constructor(options: ConfigWaitOptions) {
    this.#options = options;
  }

  /** Calls `goOn`, which does not throw, when the destinations are known up to the offset: at once where they are. */
  whenKnown(offset: number, goOn: () => void): void {
    if (this.#options.destinations.appliedOffset >= offset) {
      goOn();
      return;
    }
    const others = this.#waiting.get(offset);
    if (others !== undefined) {
      others.push(goOn);
      return;
    }
    this.#waiting.set(offset, [goOn]);
    void this.#wait(offset);
  }

  close(): void {
    this.#closing.abort();
    this.#waiting.clear();
  }

  /** Never rejects. */
  async #wait(offset: number): Promise<void> {
    const { pauseMs = PAUSE_MS } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted && !(await this.#isKnown(offset))) {
      await pause(pauseMs, signal);
    }
    const waiting = this.#waiting.get(offset) ?? [];
    this.#waiting.delete(offset);
    for (const goOn of waiting) goOn();
  }

  async #isKnown(offset: number): Promise<boolean> {
    const { destinations, log } = this.#options;
    try {
      await destinations.waitForOffset(offset, PATIENCE_MS);
      return true;
    } catch {
      if (this.#closing.signal.aborted) return false;
      log.warn({ event: "destinations_behind", appliedOffset: destinations.appliedOffset, offset });
    }
    try {
      await destinations.refresh(PATIENCE_MS);
      return true;
    } catch {
      // The brokers do not answer: nothing can be judged, and the records stay where they are.
      return false;
    }
  }
}
