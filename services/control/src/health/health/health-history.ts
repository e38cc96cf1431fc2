/**
 * Writes counts into the read model minute by minute, when each minute is over.
 *
 * Owns: the counts of minutes that are not written yet, and the timer.
 * HH1  A minute is written once (HT1 of `health-table.ts`). Counts that were read before the tables caught up, and are
 *      of a minute that was written, are in it already. Counts that come later than their minute count in the first
 *      minute that is not written, so that none is lost.
 * HH2  While the read model cannot be asked, at most `MAX_ROWS` are held; the oldest minutes are dropped first.
 */
import type { Counted } from "@posthaste/core/health/recent-counts";
import type { Log } from "@posthaste/core/log";
import { withDeadline } from "@posthaste/kafka/connection/deadline";
import { type HealthRow, MINUTE_MS } from "@posthaste/read-model/health-table";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { CountedAt } from "./health-book.ts";

const FLUSH_MS = 10_000;
/** How long after a minute's end its counts may still be read, in ms. */
const GRACE_MS = 15_000;
const CLOSE_MS = 1000;
const MAX_ROWS = 100_000;

/** How many deliveries wait for a destination, and how many requests are out to it now. */
export type Gauges = Pick<HealthRow, "waiting" | "inFlight">;

export interface HealthHistoryOptions {
  readonly readModel: Pick<ReadModel, "healthWrittenToMs" | "addHealth">;
  /** The gauges by destination; a destination with zeros may be left out. */
  readonly gauges: () => Promise<ReadonlyMap<string, Gauges>>;
  readonly nowMs: () => number;
  readonly log: Log;
}

export class HealthHistory {
  readonly #options: HealthHistoryOptions;
  /** The counts by the beginning of the minute, then by destination. */
  readonly #minutes = new Map<number, Map<string, Counted>>();
  #rows = 0;
  #timer: NodeJS.Timeout | null = null;
  #writtenToMs: number | null = null;
  #isCaughtUp = false;

  constructor(options: HealthHistoryOptions) {
    this.#options = options;
  }

  /** Begins to write. Call it when the tables have caught up. */
  start(): void {
    this.#isCaughtUp = true;
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS);
  }

  /** Writes the minutes that are over once more, if the read model answers. */
  async close(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    await withDeadline(this.flush(), CLOSE_MS, "writing the health of destinations").catch(() => undefined);
  }

  add({ destinationId, atMs, counted }: CountedAt): void {
    const ownMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
    // HH1.
    const minuteMs = this.#isCaughtUp ? Math.max(ownMs, this.#writtenToMs ?? 0) : ownMs;
    let minute = this.#minutes.get(minuteMs);
    if (minute === undefined) {
      minute = new Map();
      this.#minutes.set(minuteMs, minute);
    }
    const held = minute.get(destinationId);
    if (held === undefined) this.#rows += 1;
    minute.set(destinationId, held === undefined ? counted : sumOf(held, counted));
    while (this.#rows > MAX_ROWS) this.#forget(Math.min(...this.#minutes.keys()));
  }

  /** The counts of a destination that are not written yet, in the order of time. */
  unwritten(destinationId: string): readonly HealthRow[] {
    return [...this.#minutes]
      .sort(([a], [b]) => a - b)
      .flatMap(([timeMs, minute]) => {
        const counted = minute.get(destinationId);
        return counted === undefined ? [] : [{ ...counted, timeMs, waiting: 0, inFlight: 0 }];
      });
  }

  /** Writes the minutes that are over. Never rejects. */
  async flush(): Promise<void> {
    const { readModel, nowMs, log } = this.#options;
    try {
      const writtenToMs = await readModel.healthWrittenToMs();
      this.#writtenToMs = writtenToMs;
      const overMs = Math.floor((nowMs() - GRACE_MS) / MINUTE_MS) * MINUTE_MS;
      const newestMs = overMs - MINUTE_MS;
      const isNew = (minuteMs: number): boolean => writtenToMs === null || minuteMs >= writtenToMs;
      for (const minuteMs of [...this.#minutes.keys()].sort((a, b) => a - b)) {
        if (minuteMs >= newestMs) break;
        if (isNew(minuteMs)) await this.#write(minuteMs, NO_GAUGES);
        else this.#forget(minuteMs);
      }
      if (isNew(newestMs)) await this.#write(newestMs, await this.#options.gauges());
    } catch (error) {
      log.debug({ event: "health_history_not_written", err: error });
    }
  }

  async #write(minuteMs: number, gauges: ReadonlyMap<string, Gauges>): Promise<void> {
    const minute = this.#minutes.get(minuteMs) ?? new Map<string, Counted>();
    const rows = [...new Set([...minute.keys(), ...gauges.keys()])].map((destinationId) => ({
      ...(minute.get(destinationId) ?? NOTHING_COUNTED),
      ...(gauges.get(destinationId) ?? NO_GAUGE),
      ...{ destinationId, timeMs: minuteMs },
    }));
    // Counts that come from now on are too late for the minute.
    this.#writtenToMs = minuteMs + MINUTE_MS;
    this.#forget(minuteMs);
    try {
      await this.#options.readModel.addHealth({ minuteMs, rows });
    } catch (error) {
      this.#minutes.set(minuteMs, minute);
      this.#rows += minute.size;
      throw error;
    }
  }

  #forget(minuteMs: number): void {
    this.#rows -= this.#minutes.get(minuteMs)?.size ?? 0;
    this.#minutes.delete(minuteMs);
  }
}

const NO_GAUGE: Gauges = { waiting: 0, inFlight: 0 };
const NO_GAUGES: ReadonlyMap<string, Gauges> = new Map();
const NOTHING_COUNTED: Counted = { delivered: 0, retryable: 0, permanent: 0, deferred: 0, latencies: [] };

function sumOf(one: Counted, other: Counted): Counted {
  return {
    delivered: one.delivered + other.delivered,
    retryable: one.retryable + other.retryable,
    permanent: one.permanent + other.permanent,
    deferred: one.deferred + other.deferred,
    latencies: one.latencies.map((count, bucket) => count + (other.latencies[bucket] ?? 0)),
  };
}
