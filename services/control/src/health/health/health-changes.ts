/**
 * The changes of destinations' health, for the live stream.
 *
 * Owns: the last seen health of each destination, and the changes.
 * LH1  A change shows the destination as it is when somebody looks: of several changes of one destination only the
 *      newest counts.
 * LH2  Changes stand in the order in which this process saw them, and their offsets are moments, in ms since the epoch.
 *      A state changes by a record, by a configuration and by time that passes, so a change has no place in a topic
 *      that all processes know. Processes see one change at slightly different moments, so a client that comes with
 *      another process's id also gets the changes of `OVERLAP_MS` before it: it misses none, and gets few twice.
 * LH3  Every destination counts as changed when this process starts, since its health before is not known.
 */
import { type EntryPlace, RecentEntries } from "@posthaste/kafka/log/recent-entries";
import type { KnownDestination, KnownHealth } from "./known-health.ts";

/**
 * How far back a client goes that comes from another process, in ms: far longer than processes are behind one another.
 */
const OVERLAP_MS = 10_000;
/** The approximate size of a change in memory, in bytes. */
const CHANGE_BYTES = 200;

export interface HealthChange {
  readonly destinationId: string;
}

export class HealthChanges {
  readonly recent = new RecentEntries<HealthChange>();
  readonly #known: Pick<KnownHealth, "get" | "all">;
  readonly #nowMs: () => number;
  /** The digest of each destination's health as it was last seen. */
  readonly #seen = new Map<string, string>();
  readonly #newest = new Map<string, number>();
  #isStarted = false;
  #nextMs = 0;

  constructor(known: Pick<KnownHealth, "get" | "all">, nowMs: () => number) {
    this.#known = known;
    this.#nowMs = nowMs;
  }

  /** Starts with a change of every destination (LH3). Call it when all tables have caught up. */
  start(): void {
    this.#isStarted = true;
    this.recent.begin(0, 0);
    this.lookAtAll();
  }

  /** Looks at a destination of which a record was read. */
  look(destinationId: string): void {
    const known = this.#isStarted ? this.#known.get(destinationId) : undefined;
    if (known !== undefined) this.#note([known]);
  }

  /** Looks at all destinations. Call it every few seconds, for changes that come without a record. */
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

  /** LH2: the place from which on a client's changes are sent. */
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

/** The parts of a destination's health that make a change when they differ; counts, which rise all the time, do not. */
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
