/** Recent counts, in steps of one length: a minute for a destination, ten seconds for all destinations together. */
import type { DestinationHealth } from "./health-record.ts";
import { isFailingShare } from "./health-state.ts";
import { LATENCY_BUCKETS } from "./latency-counts.ts";

/** Counts within a time. */
export interface Counted {
  readonly delivered: number;
  readonly retryable: number;
  readonly permanent: number;
  /** How many deliveries were deferred. */
  readonly deferred: number;
  readonly latencies: readonly number[];
}

/** A process's first record counts whole when it was written no later than this after its counts began. */
const FIRST_RECORD_MS = 60_000;
const STEPS = 60;
/** For how many steps latencies are held. */
const LATENCY_STEPS = 6;

/**
 * Subtracts the counts of two records of one process's key; `before` is undefined for the first known record. A first
 * record whose counts began long ago adds nothing, since nobody knows when its counts came about.
 */
export function countsSince(
  before: DestinationHealth | undefined,
  now: DestinationHealth,
  writtenAtMs: number,
): Counted {
  return difference(countedFrom(before, now, writtenAtMs), now);
}

/** The record that the counts of `now` are taken from; undefined where all of them count. */
export function countedFrom(
  before: DestinationHealth | undefined,
  now: DestinationHealth,
  writtenAtMs: number,
): DestinationHealth | undefined {
  if (before === undefined && writtenAtMs - now.countedSinceMs > FIRST_RECORD_MS) return now;
  return before?.countedSinceMs === now.countedSinceMs ? before : undefined;
}

function difference(before: DestinationHealth | undefined, now: DestinationHealth): Counted {
  const since = (of: "delivered" | "retryable" | "permanent") => Math.max(0, now[of] - (before?.[of] ?? 0));
  const deferrals = (of: DestinationHealth | undefined) =>
    Object.values(of?.deferred ?? {}).reduce((sum, count) => sum + count, 0);
  return {
    delivered: since("delivered"),
    retryable: since("retryable"),
    permanent: since("permanent"),
    deferred: Math.max(0, deferrals(now) - deferrals(before)),
    latencies: now.latencies.map((count, bucket) => Math.max(0, count - (before?.latencies[bucket] ?? 0))),
  };
}

/**
 * Counts of the newest sixty steps. Moments are ms since the epoch. They are plain numbers, since there may be ten
 * thousand of these objects.
 */
export class RecentCounts {
  readonly #stepMs: number;
  readonly #delivered = new Uint32Array(STEPS);
  readonly #failed = new Uint32Array(STEPS);
  readonly #latencies = new Uint32Array(LATENCY_STEPS * LATENCY_BUCKETS);
  #newest = Number.NEGATIVE_INFINITY;

  constructor(stepMs: number) {
    this.#stepMs = stepMs;
  }

  /** The end of the newest step in which something was counted. */
  get newestMs(): number {
    return (this.#newest + 1) * this.#stepMs;
  }

  add(atMs: number, { delivered, retryable, permanent, latencies }: Counted): void {
    const step = Math.floor(atMs / this.#stepMs);
    this.#advance(step);
    if (step <= this.#newest - STEPS) return;
    this.#delivered[step % STEPS] = (this.#delivered[step % STEPS] ?? 0) + delivered;
    this.#failed[step % STEPS] = (this.#failed[step % STEPS] ?? 0) + retryable + permanent;
    if (step <= this.#newest - LATENCY_STEPS) return;
    const from = (step % LATENCY_STEPS) * LATENCY_BUCKETS;
    for (const [bucket, count] of latencies.entries()) {
      if (bucket < LATENCY_BUCKETS) this.#latencies[from + bucket] = (this.#latencies[from + bucket] ?? 0) + count;
    }
  }

  /**
   * The attempts of the newest `steps` steps at `nowMs`, the unfinished step included; `skip` leaves out that many of
   * the newest.
   */
  attempts(nowMs: number, steps: number, skip = 0): { readonly delivered: number; readonly failed: number } {
    let [delivered, failed] = [0, 0];
    for (const step of this.#steps(nowMs, steps, skip)) {
      delivered += this.#delivered[step % STEPS] ?? 0;
      failed += this.#failed[step % STEPS] ?? 0;
    }
    return { delivered, failed };
  }

  /** The requests of the newest `steps` steps by latency; at most six steps. */
  latencies(nowMs: number, steps: number): readonly number[] {
    const sums: number[] = new Array(LATENCY_BUCKETS).fill(0);
    for (const step of this.#steps(nowMs, Math.min(steps, LATENCY_STEPS))) {
      const from = (step % LATENCY_STEPS) * LATENCY_BUCKETS;
      for (let bucket = 0; bucket < LATENCY_BUCKETS; bucket++) {
        sums[bucket] = (sums[bucket] ?? 0) + (this.#latencies[from + bucket] ?? 0);
      }
    }
    return sums;
  }

  /**
   * The start of the earliest step since which too many attempts failed in every step with attempts; null when they did
   * not in the newest such step.
   */
  failingSinceMs(nowMs: number): number | null {
    let since: number | null = null;
    for (const step of [...this.#steps(nowMs, STEPS)].toReversed()) {
      const [delivered, failed] = [this.#delivered[step % STEPS] ?? 0, this.#failed[step % STEPS] ?? 0];
      if (delivered + failed === 0) continue;
      if (!isFailingShare({ delivered, failed })) break;
      since = step * this.#stepMs;
    }
    return since;
  }

  /** The steps that are held, in rising order. */
  *#steps(nowMs: number, steps: number, skip = 0): Iterable<number> {
    const last = Math.floor(nowMs / this.#stepMs) - skip;
    const first = Math.max(last - Math.min(steps, STEPS) + 1, this.#newest - STEPS + 1);
    for (let step = first; step <= Math.min(last, this.#newest); step++) yield step;
  }

  #advance(step: number): void {
    if (step <= this.#newest) return;
    for (let passed = Math.max(this.#newest + 1, step - STEPS + 1); passed <= step; passed++) {
      this.#delivered[passed % STEPS] = 0;
      this.#failed[passed % STEPS] = 0;
      const from = (passed % LATENCY_STEPS) * LATENCY_BUCKETS;
      this.#latencies.fill(0, from, from + LATENCY_BUCKETS);
    }
    this.#newest = step;
  }
}
