/**
 * The reports of all delivery processes on destinations, and their recent counts.
 *
 * Owns: the newest record of each key, when each process was last heard of, and the recent counts of each destination
 * and of all together.
 * HB1  A process counts while it was heard of within `SILENT_MS`: a process that was killed says nothing and removes
 *      nothing.
 * HB2  The counts of a process between two records belong to the minute in which the later one was written. The rule
 *      holds after a pause too, since a process writes its counts within seconds.
 * HB3  A removed key is dropped; its counts stay until they are too old, and its attempts are past ones (HB6).
 * HB4  Moments are control's. A record was written after the topic was last read to its end and before now. Where its
 *      process's clock says otherwise, that clock is wrong, and the record counts as written at the earlier of the two.
 *      The moments in the process's report are moved by its clock's error.
 * HB5  For records from before control began to read, a clock's error is not known. A moment that has not come is no
 *      sign that the process lives, and one long past none that it is gone. The process counts when it writes again,
 *      which it does within seconds. Before a minute is over no process is reported as gone.
 * HB6  The moments and last answers of a process that counts no more are past attempts of the destination, until a
 *      running process reports newer ones. Those from before control's start come from the attempt log.
 */
import { readHealthKey } from "@posthaste/contracts/health-keys";
import type { DestinationHealth, HealthRecord, ProcessHealth } from "@posthaste/core/health/health-record";
import { movedBack } from "@posthaste/core/health/moved-moments";
import { joinPast, type PastAttempts, pastOf } from "@posthaste/core/health/past-attempts";
import { type Counted, countsSince, RecentCounts } from "@posthaste/core/health/recent-counts";
import { failuresSince, RecentFailures } from "@posthaste/core/health/recent-failures";

const SILENT_MS = 60_000;
const MINUTE_MS = 60_000;
/** A clock is off where it differs by more; the way of a record through the topic takes less. */
const CLOCK_STEP_MS = 10_000;
/** The length of a step of the rates of all destinations together, in ms. */
const RATE_STEP_MS = 10_000;
const FORGET_MS = 60 * MINUTE_MS;

/** A process with the settings that it runs with. */
export interface ReportedProcess extends ProcessHealth {
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
  /** When the topic was read to its end before the record that comes; null before the first time (HB4, HB5). */
  readonly readToEndMs: () => number | null;
  /** Called with all counts. */
  readonly onCounted?: (counted: CountedAt) => void;
}

interface Seen {
  lastSeenMs: number;
  /** How much its clock is ahead; 0 for one that is not off (HB4). */
  aheadMs: number;
  process: ProcessHealth | null;
}

export class HealthBook {
  readonly #options: HealthBookOptions;
  readonly #seen = new Map<string, Seen>();
  /** The newest records, by destination and then by process. */
  readonly #held = new Map<string, Map<string, DestinationHealth>>();
  /** HB6, without those of processes that are silent. */
  readonly #past = new Map<string, PastAttempts>();
  readonly #recent = new Map<string, RecentCounts>();
  readonly #failures = new Map<string, RecentFailures>();
  readonly #rates = new RecentCounts(RATE_STEP_MS);
  #listensFromMs = Number.POSITIVE_INFINITY;

  constructor(options: HealthBookOptions) {
    this.#options = options;
  }

  /** From now on records come as they are written (HB5). */
  listen(): void {
    this.#listensFromMs = this.#options.nowMs();
  }

  /** Applies a record that was read; undefined for a key that was removed. */
  apply(key: string, record: HealthRecord | undefined): void {
    const { instance, destinationId } = readHealthKey(key);
    if (record === undefined) this.#remove(instance, destinationId);
    else this.#take(record);
  }

  /** The reports on a destination by the processes that count. */
  of(destinationId: string): readonly DestinationHealth[] {
    return this.#reports(destinationId, true);
  }

  /** HB6; null where nothing is known. */
  past(destinationId: string): PastAttempts | null {
    const reports = [this.#past.get(destinationId) ?? [], this.#reports(destinationId, false).map(pastOf)].flat();
    return reports.length === 0 ? null : reports.reduce(joinPast);
  }

  /** Adds past attempts, as the attempt log has them (HB6). */
  remember(destinationId: string, past: PastAttempts): void {
    const known = this.#past.get(destinationId);
    this.#past.set(destinationId, known === undefined ? past : joinPast(known, past));
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
  processes(): readonly ReportedProcess[] {
    return [...this.#seen]
      .flatMap(([instance, seen]) => {
        const { process, aheadMs } = seen;
        if (process === null || !this.#isSeen(seen)) return [];
        return [{ ...process, startedAtMs: process.startedAtMs - aheadMs, instance }];
      })
      .sort((a, b) => a.startedAtMs - b.startedAtMs || (a.instance < b.instance ? -1 : 1));
  }

  /** The processes that were not heard of for `ms`, each with the destinations of which it says something. */
  silentFor(ms: number): ReadonlyMap<string, readonly string[]> {
    const nowMs = this.#options.nowMs();
    if (nowMs - this.#listensFromMs < SILENT_MS) return new Map();
    const oldestMs = nowMs - ms;
    const silent = [...this.#seen].filter(([, { lastSeenMs }]) => lastSeenMs <= oldestMs).map(([instance]) => instance);
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
    const seen = this.#seen.get(instance) ?? { lastSeenMs: Number.NEGATIVE_INFINITY, aheadMs: 0, process: null };
    this.#hear(seen, writtenAtMs);
    if (process !== null) seen.process = process;
    this.#seen.set(instance, seen);
    if (destinationId === null || destination === null) return;
    const byInstance = this.#held.get(destinationId) ?? new Map<string, DestinationHealth>();
    const before = byInstance.get(instance);
    const counted = countsSince(before, destination, writtenAtMs);
    const failed = failuresSince(before, destination, writtenAtMs);
    byInstance.set(instance, destination);
    this.#held.set(destinationId, byInstance);
    const atMs = this.#writtenAt(writtenAtMs);
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
      this.#seen.delete(instance);
      return;
    }
    const byInstance = this.#held.get(destinationId);
    const removed = byInstance?.get(instance);
    if (removed !== undefined)
      this.remember(destinationId, pastOf(movedBack(removed, this.#seen.get(instance)?.aheadMs ?? 0)));
    byInstance?.delete(instance);
    if (byInstance?.size === 0) this.#held.delete(destinationId);
  }

  /** The reports on a destination by the processes that count, or by those that are silent (HB1). */
  #reports(destinationId: string, counts: boolean): readonly DestinationHealth[] {
    return [...(this.#held.get(destinationId) ?? [])].flatMap(([instance, health]) => {
      const seen = this.#seen.get(instance);
      return (seen !== undefined && this.#isSeen(seen)) === counts ? [movedBack(health, seen?.aheadMs ?? 0)] : [];
    });
  }

  #hear(seen: Seen, writtenAtMs: number): void {
    const atMs = this.#writtenAt(writtenAtMs);
    // HB5.
    const isAhead = this.#options.readToEndMs() === null && writtenAtMs > atMs;
    seen.lastSeenMs = Math.max(seen.lastSeenMs, isAhead ? atMs - SILENT_MS : atMs);
    const aheadMs = this.#options.readToEndMs() === null ? 0 : writtenAtMs - atMs;
    if (Math.abs(aheadMs) < CLOCK_STEP_MS) seen.aheadMs = 0;
    else if (Math.abs(aheadMs - seen.aheadMs) >= CLOCK_STEP_MS) seen.aheadMs = aheadMs;
  }

  /** HB4: when a record was written, by control's clock. */
  #writtenAt(writtenAtMs: number): number {
    const nowMs = this.#options.nowMs();
    const afterMs = this.#options.readToEndMs();
    if (afterMs === null) return Math.min(writtenAtMs, nowMs);
    return writtenAtMs >= afterMs && writtenAtMs <= nowMs ? writtenAtMs : Math.min(afterMs, nowMs);
  }

  /** HB1. */
  #isSeen({ lastSeenMs }: Seen): boolean {
    return this.#options.nowMs() - lastSeenMs < SILENT_MS;
  }
}
