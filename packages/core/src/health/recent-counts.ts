/** What was counted of late, in steps of one length: of a destination by the minute, of all of them by ten seconds. */
import type { DestinationHealth } from "./health-record.ts";
import { isFailingShare } from "./health-state.ts";
import { LATENCY_BUCKETS } from "./latency-counts.ts";

/** What was counted in some time. */
export interface Counted {
  readonly delivered: number;
  readonly retryable: number;
  readonly permanent: number;
  /** Deliveries that went to a retry topic without a request. */
  readonly deferred: number;
  readonly latencies: readonly number[];
}

/** A process's first record is of all its time while that is no longer than this. */
const FIRST_RECORD_MS = 60_000;
const STEPS = 60;
/** Steps of which latencies are held. */
const LATENCY_STEPS = 6;

/**
 * What a process counted between two records of one key; `before` is undefined for the first that is known. Of a first
 * record that counts from long ago nothing is known of when that was, so it is not counted at all.
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

/** Of the newest sixty steps; moments are ms since the epoch. Plain numbers: there may be ten thousand of these. */
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

  /** Attempts of the newest `steps` steps at this moment, of which the last is not over; `skip` leaves out so many. */
  attempts(nowMs: number, steps: number, skip = 0): { readonly delivered: number; readonly failed: number } {
    let [delivered, failed] = [0, 0];
    for (const step of this.#steps(nowMs, steps, skip)) {
      delivered += this.#delivered[step % STEPS] ?? 0;
      failed += this.#failed[step % STEPS] ?? 0;
    }
    return { delivered, failed };
  }

  /** Requests by latency, of the newest `steps` steps, at most six. */
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
   * The begin of the earliest step from which on too many attempts failed in each step that had some; null when they do
   * not in the newest one.
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

  /** In order, those of which something is held. */
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
