/** Requests of a destination that did not deliver, of late, by URL and by what they came to. */
import type { DestinationHealth, FailedRequests } from "./health-record.ts";
import { countedFrom } from "./recent-counts.ts";

const STEPS = 60;

/** Of what a process counted between two records of one key, as `countsSince`. */
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

/** Of the newest sixty steps; moments are ms since the epoch. Held of destinations alone at which something failed. */
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

  /** Of the newest `steps` steps at this moment, the most first. */
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

/** An answer has no blank, so that no two share a name. */
function nameOf({ url, answer }: FailedRequests): string {
  return `${answer} ${url}`;
}
