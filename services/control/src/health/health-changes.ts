/**
 * Which destinations changed how well they are, for those who look on.
 *
 * Owns: what was last seen of each destination, and the changes.
 * LH1  A change stands for the destination as it is by the time that it is looked at: of several changes of one only
 *      the newest says anything.
 * LH2  Changes stand in the order in which this process saw them, and their offsets are moments, ms since the epoch: a
 *      state changes by a record, by a configuration, and by time that passes, so it has no place in a topic that every
 *      process knows. Processes see one change at slightly different moments, so whoever comes with another's id has
 *      the changes of `OVERLAP_MS` before it too: none is missed, and few come twice.
 * LH3  Every destination changed when this process started: what it was before is not known.
 */
import { type EntryPlace, RecentEntries } from "../recent-entries.ts";
import type { KnownDestination, KnownHealth } from "./known-health.ts";

/** Far longer than one process is behind another. */
const OVERLAP_MS = 10_000;
/** About what a change takes, in bytes. */
const CHANGE_BYTES = 200;

export interface HealthChange {
  readonly destinationId: string;
}

export class HealthChanges {
  readonly recent = new RecentEntries<HealthChange>();
  readonly #known: Pick<KnownHealth, "get" | "all">;
  readonly #nowMs: () => number;
  /** By destination. */
  readonly #seen = new Map<string, string>();
  readonly #newest = new Map<string, number>();
  #isStarted = false;
  #nextMs = 0;

  constructor(known: Pick<KnownHealth, "get" | "all">, nowMs: () => number) {
    this.#known = known;
    this.#nowMs = nowMs;
  }

  /** Call it when everything caught up (LH3). */
  start(): void {
    this.#isStarted = true;
    this.recent.begin(0, 0);
    this.lookAtAll();
  }

  /** A record of the destination was read. */
  look(destinationId: string): void {
    const known = this.#isStarted ? this.#known.get(destinationId) : undefined;
    if (known !== undefined) this.#note([known]);
  }

  /** Call it every few seconds: for what changes without a record. */
  lookAtAll(): void {
    const all = this.#known.all();
    this.#note(all);
    const ids = new Set(all.map(({ destination }) => destination.id));
    for (const id of this.#seen.keys()) {
      if (ids.has(id)) continue;
      this.#seen.delete(id);
      this.#newest.delete(id);
    }
  }

  isNewest({ destinationId }: HealthChange, offset: number): boolean {
    return this.#newest.get(destinationId) === offset;
  }

  /** LH2: from where on is sent what came since. */
  static before({ offset }: EntryPlace): EntryPlace {
    return { offset: Math.max(0, offset - OVERLAP_MS), place: 0 };
  }

  #note(all: readonly KnownDestination[]): void {
    this.#nextMs = Math.max(this.#nextMs, this.#nowMs());
    const changed = all.filter((known) => this.#isOther(known)).map(({ destination: { id } }) => id);
    const entries = changed.map((destinationId, index) => {
      const offset = this.#nextMs + index;
      this.#newest.set(destinationId, offset);
      return { offset, place: 0, value: { destinationId }, bytes: CHANGE_BYTES };
    });
    this.#nextMs += entries.length;
    this.recent.add(0, this.#nextMs, entries);
  }

  #isOther(known: KnownDestination): boolean {
    const { id } = known.destination;
    const seen = digestOf(known);
    if (this.#seen.get(id) === seen) return false;
    this.#seen.set(id, seen);
    return true;
  }
}

/** What of a destination's health is a change; counts, which rise all the time, are not. */
function digestOf({ destination: { name, urls }, judged, held }: KnownDestination): string {
  const { state, reason, nextProbeMs } = judged;
  const why = reason === null ? null : [reason.url, reason.outcome, reason.status, reason.error];
  const breakers = held.flatMap((each) => each.urls.filter(({ breaker }) => breaker !== "closed"));
  const configured = urls.map(({ url }) => url);
  return JSON.stringify([
    ...[name, configured, state, why, nextProbeMs],
    ...breakers.map(({ url, breaker }) => [url, breaker]).sort(),
  ]);
}
