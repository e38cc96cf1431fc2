/**
 * What a consumer looks at about once a second: how far it is (its lag), and whether it stands still (C7).
 *
 * Owns: one timer.
 */
import type { Lagging, LagMeter } from "./lag.ts";
import type { StallWatch } from "./stall-watch.ts";

/** What is asked of an owned partition. */
export interface Ticking extends Lagging {
  /** Nothing is known to be left to fetch, it is not to be fetched now, or there is nobody to fetch it from. */
  readonly hasNothingToFetch: boolean;
}

export interface ConsumerTicksOptions {
  readonly owned: () => readonly Ticking[];
  readonly lag: LagMeter;
  readonly stalls: StallWatch;
  /** After so long, in ms, the consumer stands still. */
  readonly stallLimitMs: number;
  readonly onStalled: (reason: Error) => void;
}

const LONGEST_TICK_MS = 1000;
/** At least so many ticks come within the limit. */
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
    for (const each of owned()) if (each.hasNothingToFetch && !each.isLocating) stalls.heardPartition(each);
    lag.publish();
    if (this.#ticks % END_OFFSETS_EVERY_TICKS === 0) void lag.readEnds();
    const reason = stalls.tick(this.#tickMs);
    if (reason !== null) onStalled(reason);
  }
}
