/**
 * Looks about once a second how far the consumer is behind (lag), and whether it has come to a standstill (C7).
 *
 * Owns: one timer.
 */
import type { Lagging, LagMeter } from "./lag.ts";
import type { StallWatch } from "./stall-watch.ts";

/** An owned partition, as the ticks use it. */
export interface Ticking extends Lagging {
  /** True when every known record was fetched, fetching is paused, or the partition has no leader. */
  readonly hasNothingToFetch: boolean;
}

export interface ConsumerTicksOptions {
  readonly owned: () => readonly Ticking[];
  readonly lag: LagMeter;
  readonly stalls: StallWatch;
  /** Ms without progress after which the consumer counts as stalled. */
  readonly stallLimitMs: number;
  readonly onStalled: (reason: Error) => void;
}

const LONGEST_TICK_MS = 1000;
/** The watch ticks at least this often within the limit. */
const TICKS_IN_LIMIT = 4;
const END_OFFSETS_EVERY_TICKS = 5;

export class ConsumerTicks {
  readonly #options: ConsumerTicksOptions;
  readonly #tickMs: number;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;

  constructor(options: ConsumerTicksOptions) {
    this.#options = options;
    this.#tickMs = Math.min(LONGEST_TICK_MS, options.stallLimitMs / TICKS_IN_LIMIT);
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#onTick(), this.#tickMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #onTick(): void {
    const { owned, lag, stalls, onStalled } = this.#options;
    this.#ticks += 1;
    for (const each of owned()) if (each.hasNothingToFetch && !each.isLocating) stalls.sawPartition(each);
    lag.publish();
    if (this.#ticks % END_OFFSETS_EVERY_TICKS === 0) void lag.readEnds();
    const reason = stalls.tick(this.#tickMs);
    if (reason !== null) onStalled(reason);
  }
}
