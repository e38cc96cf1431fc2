/**
 * The wait of deliveries until the table of destinations has read as far as the router had when it routed them (V1 of
 * `check.ts`): a table that lags would take a new destination for a removed one.
 *
 * Owns: one wait for each config offset, however many deliveries wait for it.
 * G1  A delivery goes on when the table has read the delivery's config offset. A topic that was recreated may never
 *     reach that offset: when the table has not read it in `PATIENCE_MS`, the delivery goes on once the table has read
 *     to the topic's end of that moment.
 * G2  When the table does not answer, the wait of an offset asks it again after a pause, once for all deliveries that
 *     wait.
 * G3  After `close` no wait asks the table and no delivery goes on: records that wait stay in their windows, to be read
 *     again.
 */
import type { Destination } from "@posthaste/core/config/destination";
import type { Log } from "@posthaste/core/log";
import { pause } from "@posthaste/kafka/connection/deadline";
import type { Table } from "@posthaste/kafka/log/table";

const PATIENCE_MS = 5000;
/** The pause before a table is asked again that refused at once, as a closed table does. */
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

  /** Calls `goOn`, which must not throw, when the table has read up to the offset: at once where it has. */
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
      // The brokers do not answer: no delivery can be checked, and the records stay in their windows.
      return false;
    }
  }
}
