/**
 * What all delivery processes say of destinations, and what they counted recently.
 *
 * Owns: the newest record of each key, when each process was last heard of, and the recent counts of each destination
 * and of all together.
 * HB1  A process counts while it was heard of within `SILENT_MS`: a process that was killed says nothing and removes
 *      nothing.
 * HB2  What a process counted between two records counts in the minute in which the later one was written, also after a
 *      pause, since a process writes its counts within seconds.
 * HB3  A removed key is dropped; what was counted stays until it is too old.
 */
import { readHealthKey } from "@posthaste/contracts/health-keys";
import type { DestinationHealth, HealthRecord, ProcessHealth } from "@posthaste/core/health/health-record";
import { type Counted, countsSince, RecentCounts } from "@posthaste/core/health/recent-counts";
import { failuresSince, RecentFailures } from "@posthaste/core/health/recent-failures";

const SILENT_MS = 60_000;
const MINUTE_MS = 60_000;
/** The length of a step of the rates of all destinations together, in ms. */
const RATE_STEP_MS = 10_000;
const FORGET_MS = 60 * MINUTE_MS;

/** A process with the settings that it runs with. */
export interface HeardProcess extends ProcessHealth {
  readonly instance: string;
}

/** Counts of a destination, with their moment. */
export interface CountedAt {
  readonly destinationId: string;
  readonly atMs: number;
  readonly counted: Counted;
}

export interface HealthBookOptions {
  readonly nowMs: () => number;
  /** Called with all counts. */
  readonly onCounted?: (counted: CountedAt) => void;
}

interface Heard {
  heardMs: number;
  process: ProcessHealth | null;
}

export class HealthBook {
  readonly #options: HealthBookOptions;
  readonly #heard = new Map<string, Heard>();
  /** The newest records, by destination and then by process. */
  readonly #held = new Map<string, Map<string, DestinationHealth>>();
  readonly #recent = new Map<string, RecentCounts>();
  readonly #failures = new Map<string, RecentFailures>();
  readonly #rates = new RecentCounts(RATE_STEP_MS);

  constructor(options: HealthBookOptions) {
    this.#options = options;
  }

  /** Applies a record that was read; undefined for a key that was removed. */
  apply(key: string, record: HealthRecord | undefined): void {
    const { instance, destinationId } = readHealthKey(key);
    if (record === undefined) this.#remove(instance, destinationId);
    else this.#take(record);
  }

  /** What the processes that count say of a destination. */
  of(destinationId: string): readonly DestinationHealth[] {
    const held = this.#held.get(destinationId) ?? [];
    return [...held].filter(([instance]) => this.#isHeard(instance)).map(([, health]) => health);
  }

  /** The recent counts of a destination, by the minute; undefined where there are none. */
  recent(destinationId: string): RecentCounts | undefined {
    return this.#recent.get(destinationId);
  }

  /** The recent failed requests of a destination, by the minute; undefined where there are none. */
  failures(destinationId: string): RecentFailures | undefined {
    return this.#failures.get(destinationId);
  }

  /** The recent counts of all destinations together, in steps of ten seconds. */
  get rates(): RecentCounts {
    return this.#rates;
  }

  /** The destinations of which any process says something. */
  destinationIds(): Iterable<string> {
    return this.#held.keys();
  }

  /** The processes that count, in the order of their starts. */
  processes(): readonly HeardProcess[] {
    return [...this.#heard]
      .flatMap(([instance, { process }]) =>
        process === null || !this.#isHeard(instance) ? [] : [{ ...process, instance }],
      )
      .sort((a, b) => a.startedAtMs - b.startedAtMs || (a.instance < b.instance ? -1 : 1));
  }

  /** The processes that were not heard of for `ms`, each with the destinations of which it says something. */
  silentFor(ms: number): ReadonlyMap<string, readonly string[]> {
    const oldestMs = this.#options.nowMs() - ms;
    const silent = [...this.#heard].filter(([, { heardMs }]) => heardMs <= oldestMs).map(([instance]) => instance);
    return new Map(
      silent.map((instance) => [
        instance,
        [...this.#held].filter(([, byInstance]) => byInstance.has(instance)).map(([destinationId]) => destinationId),
      ]),
    );
  }

  /** Forgets counts that are too old. */
  forgetOld(): void {
    const oldestMs = this.#options.nowMs() - FORGET_MS;
    for (const [id, recent] of this.#recent) {
      if (recent.newestMs >= oldestMs) continue;
      this.#recent.delete(id);
      this.#failures.delete(id);
    }
  }

  #take({ instance, writtenAtMs, destinationId, destination, process }: HealthRecord): void {
    const heard = this.#heard.get(instance) ?? { heardMs: writtenAtMs, process: null };
    heard.heardMs = Math.max(heard.heardMs, writtenAtMs);
    if (process !== null) heard.process = process;
    this.#heard.set(instance, heard);
    if (destinationId === null || destination === null) return;
    const byInstance = this.#held.get(destinationId) ?? new Map<string, DestinationHealth>();
    const before = byInstance.get(instance);
    const counted = countsSince(before, destination, writtenAtMs);
    const failed = failuresSince(before, destination, writtenAtMs);
    byInstance.set(instance, destination);
    this.#held.set(destinationId, byInstance);
    // Records of a process whose clock is ahead count towards the present.
    const atMs = Math.min(writtenAtMs, this.#options.nowMs());
    this.#count({ destinationId, atMs, counted });
    if (failed.length === 0) return;
    const failures = this.#failures.get(destinationId) ?? new RecentFailures(MINUTE_MS);
    this.#failures.set(destinationId, failures);
    failures.add(atMs, failed);
  }

  /** HB2. */
  #count(counted: CountedAt): void {
    const { destinationId, atMs } = counted;
    let recent = this.#recent.get(destinationId);
    if (recent === undefined) {
      recent = new RecentCounts(MINUTE_MS);
      this.#recent.set(destinationId, recent);
    }
    recent.add(atMs, counted.counted);
    this.#rates.add(atMs, counted.counted);
    this.#options.onCounted?.(counted);
  }

  /** HB3. */
  #remove(instance: string, destinationId: string | null): void {
    if (destinationId === null) {
      this.#heard.delete(instance);
      return;
    }
    const byInstance = this.#held.get(destinationId);
    byInstance?.delete(instance);
    if (byInstance?.size === 0) this.#held.delete(destinationId);
  }

  /** HB1. */
  #isHeard(instance: string): boolean {
    const heard = this.#heard.get(instance);
    return heard !== undefined && this.#options.nowMs() - heard.heardMs < SILENT_MS;
  }
}
