/**
 * The keys of a compacted topic of one partition, of which there may be ten million: a table that hands each key to its
 * owner and holds no value, and that knows for how long what it handed over has been all there is.
 *
 * Owns: the reading, the newest changes, and when the topic was last read to its end.
 * Y1  A key is handed over for each of its records in offset order, from the first record of the topic on.
 * Y2  The table is current at a moment when it held, at some time within the lease before, all that the topic held
 *     then. That time is when a fetch was *sent*: an answer that lay in a buffer, while this process was stopped or its
 *     line was cut, says nothing about the present. Both clocks must say so, since the monotonic one may stand still
 *     with a machine that sleeps.
 * Y3  A record with a lower revision than the newest change of its key is a send that was given up (P5), and changes
 *     nothing. Of the keys that changed long ago no revision is held: nothing is on its way for so long.
 * Y4  `onStale` is told of it while it is the newest record of its key, so that the topic's writer writes the newest
 *     again.
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

/** How often an idle table asks: with it a lease of ten seconds outlasts a leader's failover. */
const MAX_WAIT_MS = 1000;
/** Changes of that many keys are remembered with their revision. */
const REMEMBERED_CHANGES = 50_000;

/** The newest record of a key, to be written again as it is. */
export interface KeyRecord {
  readonly key: string;
  readonly revision: number;
  /** Null for a tombstone. */
  readonly value: Buffer | null;
}

export interface KeyTableOptions {
  readonly topic: string;
  /** A record of this key was read; `isHeld` is false for a tombstone. */
  readonly onKey: (key: string, isHeld: boolean) => void;
  /** How many keys are held, for the metric. */
  readonly size: () => number;
  /** For how long after it was whole the table counts as current, in ms (Y2). */
  readonly leaseMs: number;
  /** An older write came after this newest one (Y4); without it no value is kept. */
  readonly onStale?: (newest: KeyRecord) => void;
  /** The table cannot follow its topic any more. */
  readonly onFailure: (reason: Error) => void;
  /** How long a missing topic is asked for again; default `ADMIN_PATIENCE_MS`. */
  readonly missingPatienceMs?: number;
  readonly clock?: Clock | undefined;
}

export interface KeyTable {
  /** For `/readyz`: true, or since when the table has not been at its topic's end. */
  readonly state: true | string;
  /** Y2. */
  readonly isCurrent: boolean;
  /** Calls `goOn`, which does not throw, as soon as the table is current: at once where it is, never after `close`. */
  whenCurrent(goOn: () => void): void;
  /** The newest revision of a key, where the table remembers one. */
  revisionOf(key: string): number | undefined;
  /** Resolves when everything that stood in the topic when the table was made has been read. */
  caughtUp(): Promise<void>;
  /** Resolves when everything that stands in the topic now has been read. Rejects with `deadline_exceeded`. */
  refresh(timeoutMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Resolves when the topic's reading began; waits for brokers. Rejects with `topic_missing`. */
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
  /** While the table catches up: the keys whose newest record in the log was an older write (Y4). */
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
    // Whoever asks gets the rejection; nobody has to ask.
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
    const giveUpAtMs = performance.now() + timeoutMs;
    const refreshed = this.#askEnd().then((end) =>
      this.#reader?.reached(end, Math.max(0, giveUpAtMs - performance.now())),
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
    // Of an empty topic no fetch would say so for a while.
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
      // A copy, since a record's value holds on to all that was fetched with it.
      const kept = onStale === undefined || value === null ? null : Buffer.from(value);
      this.#recent.set(key, { key, revision, value: kept });
      this.#stale?.delete(key);
      onKey(key, value !== null);
    }
    this.#report();
  }

  /** Y3, Y4. The key is somebody's user id, so it is in no log. */
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
