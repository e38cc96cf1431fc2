/** The recent failed requests of a destination, by URL and answer. */
import type { DestinationHealth, FailedRequests } from "./health-record.ts";
import { countedFrom } from "./recent-counts.ts";

const STEPS = 60;

/** The failures between two records of one process's key, as `countsSince` counts. */
export function failuresSince(
  before: DestinationHealth | undefined,
  now: DestinationHealth,
  writtenAtMs: number,
): readonly FailedRequests[] {
  const from = new Map(countedFrom(before, now, writtenAtMs)?.failures.map((each) => [nameOf(each), each.count]));
  return now.failures.flatMap((each) => {
    const count = each.count - (from.get(nameOf(each)) ?? 0);
    return count > 0 ? [{ ...each, count }] : [];
  });
}

/**
 * The failures of the newest sixty steps. Moments are ms since the epoch. Only a destination with failures has this
 * object.
 */
export class RecentFailures {
  readonly #stepMs: number;
  readonly #steps = new Map<number, Map<string, FailedRequests>>();

  constructor(stepMs: number) {
    this.#stepMs = stepMs;
  }

  add(atMs: number, failed: readonly FailedRequests[]): void {
    const step = Math.floor(atMs / this.#stepMs);
    const held = this.#steps.get(step) ?? new Map<string, FailedRequests>();
    this.#steps.set(step, held);
    for (const each of failed) addTo(held, each);
    this.#forget(Math.max(...this.#steps.keys()));
  }

  /** The failures of the newest `steps` steps at `nowMs`, the most frequent first. */
  failed(nowMs: number, steps: number): readonly FailedRequests[] {
    const last = Math.floor(nowMs / this.#stepMs);
    const sums = new Map<string, FailedRequests>();
    for (const [step, held] of this.#steps) {
      if (step <= last && step > last - steps) for (const each of held.values()) addTo(sums, each);
    }
    return [...sums.values()].sort((a, b) => b.count - a.count || (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  #forget(newest: number): void {
    for (const step of this.#steps.keys()) if (step <= newest - STEPS) this.#steps.delete(step);
  }
}

function addTo(sums: Map<string, FailedRequests>, each: FailedRequests): void {
  const name = nameOf(each);
  sums.set(name, { ...each, count: each.count + (sums.get(name)?.count ?? 0) });
}

/** An answer has no blank, so that no two failures share a name. */
function nameOf({ url, answer }: FailedRequests): string {
  return `${answer} ${url}`;
}
