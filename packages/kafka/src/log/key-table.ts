/**
 * The keys of a compacted topic of one partition, which may have ten million. The table passes each key to its owner
 * and holds no values. It knows for how long the records passed on have been the whole topic.
 *
 * Owns: the reading, the newest changes, and the time at which the topic was last read to its end. The table is
 * - *catching up* from the start, until it has read to the end that the topic had then;
 * - *following* the topic from then on, until `close` or a failure; it is then current or not, by Y2.
 * Y1  The table passes a key on for each of the key's records, in offset order, from the topic's first record on.
 * Y2  The table is current while, at some time within the last `leaseMs`, it held all that the topic held at that time.
 *     That time is when a fetch was *sent*: an answer that lay in a buffer while this process was stopped or its
 *     network was cut says nothing about the present. By both clocks that time must lie within the lease, since the
 *     monotonic clock may stand still while a machine sleeps.
 * Y3  A record with a lower revision than its key's newest change comes from a send that was given up (P5), and changes
 *     nothing. The table remembers no revision of a key that changed long ago: no given up send arrives so late.
 * Y4  `onStale` is called while such a record is the newest of its key in the log, so that the topic's writer writes
 *     the newest change again.
 */
import { headerText, REVISION_HEADER } from "@posthaste/contracts/headers";
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "../connection/connect.ts";
import { withDeadline } from "../connection/deadline.ts";
import { singleFlight } from "../connection/single-flight.ts";
import { SYSTEM_CLOCK } from "../connection/system-clock.ts";
import { endOffset } from "../connection/topic-offsets.ts";
import { whenReachable } from "../connection/when-reachable.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import { type FetchedTo, followLog, type LogReader } from "./log-reader.ts";
import { ageMsOf, type Moment, momentOf } from "./moment.ts";
import { RecentChanges } from "./recent-changes.ts";
import { TableProgress } from "./table-progress.ts";

/** In ms: how long a fetch waits at an idle topic. With this, a lease of ten seconds outlasts a leader's failover. */
const MAX_WAIT_MS = 1000;
/** The table remembers the revisions of this many keys, those that changed last. */
const REMEMBERED_CHANGES = 50_000;

/** The newest change of a key, for a writer that writes it again unchanged. */
export interface KeyRecord {
  readonly key: string;
  readonly revision: number;
  /** Null for a tombstone. */
  readonly value: Buffer | null;
}

export interface KeyTableOptions {
  readonly topic: string;
  /** A record of this key was read. `isHeld` is false for a tombstone. */
  readonly onKey: (key: string, isHeld: boolean) => void;
  /** The number of keys that the owner holds, for the metric. */
  readonly size: () => number;
  /** How long the table counts as current after it held the whole topic, in ms (Y2). */
  readonly leaseMs: number;
  /** A late write followed this newest change (Y4). Without this option the table keeps no values. */
  readonly onStale?: (newest: KeyRecord) => void;
  /** The table can no longer follow its topic. */
  readonly onFailure: (reason: Error) => void;
  /** How long to ask again for a missing topic, in ms. Default `ADMIN_PATIENCE_MS`. */
  readonly missingPatienceMs?: number;
  readonly clock?: Clock | undefined;
}

export interface KeyTable {
  /** For `/readyz`: true, or a text that says since when the table has not been at its topic's end. */
  readonly state: true | string;
  /** Whether the table is current (Y2). */
  readonly isCurrent: boolean;
  /**
   * Calls `goOn` as soon as the table is current, at once if it is. `goOn` must not throw. A closed table reads nothing
   * more, so it never becomes current again.
   */
  whenCurrent(goOn: () => void): void;
  /** The revision of the key's newest change, while the table remembers it. */
  revisionOf(key: string): number | undefined;
  /** Resolves when the table has read everything that the topic held when the table was made. */
  caughtUp(): Promise<void>;
  /** Resolves when the table has read everything that the topic held at the call. Rejects with `deadline_exceeded`. */
  refresh(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Resolves when reading has begun. Waits for brokers. Rejects with `topic_missing`. */
export async function createKeyTable(connection: KafkaConnection, options: KeyTableOptions): Promise<KeyTable> {
  const table = new FollowedKeys(connection, options);
  await table.start();
  return table;
}

class FollowedKeys implements KeyTable {
  readonly #connection: KafkaConnection;
  readonly #options: KeyTableOptions;
  readonly #recent = new RecentChanges<KeyRecord>(REMEMBERED_CHANGES);
  readonly #progress: TableProgress;
  readonly #askEnd: () => Promise<number>;
  readonly #clock: Clock;
  #wholeAt: Moment | null = null;
  #waiting: (() => void)[] = [];
  #reader: LogReader | null = null;
  #caughtUp: Promise<void> = Promise.resolve();
  /** Keys whose newest record in the log is a late write, while the table catches up (Y4); null from then on. */
  #stale: Map<string, KeyRecord> | null = new Map();

  constructor(connection: KafkaConnection, options: KeyTableOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#progress = new TableProgress({ topic: options.topic, metrics: connection.metrics, clock: this.#clock });
    this.#askEnd = singleFlight(() => endOffset(connection, options.topic));
  }

  async start(): Promise<void> {
    const { topic, onFailure, missingPatienceMs } = this.#options;
    this.#report();
    this.#connection.metrics?.tableCaughtUpTimestamp.set({ topic }, 0);
    const reader = await followLog(this.#connection, {
      topic,
      partition: 0,
      from: "start",
      maxWaitMs: MAX_WAIT_MS,
      onRecords: (records) => this.#take(records),
      onFetched: (at) => this.#reached(at),
      onFailure,
      clock: this.#clock,
      ...(missingPatienceMs === undefined ? {} : { missingPatienceMs }),
    });
    this.#reader = reader;
    this.#caughtUp = this.#catchUp(reader);
    // Callers of `caughtUp` get the rejection, but there may be none.
    this.#caughtUp.catch(() => {});
  }

  get state(): true | string {
    return this.#progress.state;
  }

  get isCurrent(): boolean {
    return this.#wholeAt !== null && ageMsOf(this.#wholeAt, this.#clock) < this.#options.leaseMs;
  }

  whenCurrent(goOn: () => void): void {
    if (this.isCurrent) goOn();
    else this.#waiting.push(goOn);
  }

  revisionOf(key: string): number | undefined {
    return this.#recent.get(key)?.revision;
  }

  caughtUp(): Promise<void> {
    return this.#caughtUp;
  }

  refresh(timeoutMs: number): Promise<void> {
    const giveUpAtMs = this.#clock.monotonicMs() + timeoutMs;
    const refreshed = this.#askEnd().then((end) =>
      this.#reader?.reached(end, Math.max(0, giveUpAtMs - this.#clock.monotonicMs())),
    );
    return withDeadline(refreshed, timeoutMs, `reading ${this.#options.topic} to its end`);
  }

  async close(): Promise<void> {
    await this.#reader?.close();
  }

  async #catchUp(reader: LogReader): Promise<void> {
    const { askedAt, end } = await whenReachable(this.#connection, async () => ({
      askedAt: momentOf(this.#clock),
      end: await this.#askEnd(),
    }));
    await reader.reached(end);
    const stale = this.#stale?.values() ?? [];
    this.#stale = null;
    // At an empty topic no fetch would answer for a while.
    this.#reached({ position: reader.position, end, askedAt });
    for (const newest of stale) this.#options.onStale?.(newest);
  }

  #reached(at: FetchedTo): void {
    this.#progress.reached(at);
    if (at.position < at.end) return;
    this.#wholeAt = at.askedAt;
    if (!this.isCurrent) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const goOn of waiting) goOn();
  }

  #take(records: readonly IncomingRecord[]): void {
    const { onKey, onStale } = this.#options;
    for (const { key: keyBytes, value, headers } of records) {
      if (keyBytes === null) continue;
      const key = keyBytes.toString();
      const revision = Number(headerText(headers, REVISION_HEADER) ?? 0);
      const newest = this.#recent.get(key);
      if (newest !== undefined && revision < newest.revision) {
        this.#ignoreStale(newest, revision);
        continue;
      }
      // The value is copied, since it is a view of a whole fetch.
      const kept = onStale === undefined || value === null ? null : Buffer.from(value);
      this.#recent.set(key, { key, revision, value: kept });
      this.#stale?.delete(key);
      onKey(key, value !== null);
    }
    this.#report();
  }

  /** Ignores a late write (Y3) and reports it (Y4). The log leaves out the key, which is a user's id. */
  #ignoreStale(newest: KeyRecord, revision: number): void {
    const { topic, onStale } = this.#options;
    this.#connection.metrics?.tableStaleRecords.inc({ topic });
    if (this.#stale !== null) {
      this.#stale.set(newest.key, newest);
      return;
    }
    const fields = { event: "table_record_stale", topic, revision, held: newest.revision };
    this.#connection.log.warn(fields, "an older write came late");
    onStale?.(newest);
  }

  #report(): void {
    const { topic, size } = this.#options;
    this.#connection.metrics?.tableRecords.set({ topic }, size());
  }
}
