/**
 * The newest events of sources that somebody asks about, from the end of `posthaste.events`.
 *
 * Owns: the readers of the topic's end while somebody asks, and the newest events of each source that is asked about.
 * ET1  Nothing is read while nobody asks: the readers begin with the first question, some records before the end, and
 *      end half a minute after the last one.
 * ET2  Of a source twenty events of a second are kept and no more, of them the newest two hundred; an event of a source
 *      that nobody asks about is not even decoded.
 * ET3  So many sources are asked about at once; the one that was asked about longest ago gives way, but for those that
 *      somebody watches.
 * ET4  Whoever watches a source has its events as they are read (`recent-entries.ts`), for as long as they watch. What
 *      the readers passed over is a gap there.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import { isUnreadable } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { type Freshness, freshAsOf } from "../http/freshness.ts";
import { Problem } from "../http/problem.ts";
import { RecentEntries } from "../recent-entries.ts";
import { TopicEnd } from "./topic-end.ts";

/** An event, and where it stands. */
export interface TailedEvent {
  readonly event: Event;
  readonly partition: number;
  readonly offset: number;
}

export interface EventTailOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly codec: Pick<Codec<Event>, "decode" | "prefetch">;
  /** Ms, never going back. */
  readonly monotonicMs: () => number;
  /** For tests; instead of `MAX_SOURCES`. */
  readonly maxSources?: number;
}

const QUIET_MS = 30_000;
const A_SECOND = 20;
const MAX_EVENTS = 200;
const MAX_SOURCES = 50;
/** How long a question waits for the readers to be at the end. */
const PATIENCE_MS = 2_000;

/** What an event takes of memory beside its bytes, about. */
const EVENT_BYTES = 500;
/** Of each source, for those who watch it (ET4). */
const RECENT_BOUNDS = { maxEntries: 500, maxBytes: 512 * 1024 };

interface Asked {
  lastAskedMs: number;
  watchers: number;
  events: TailedEvent[];
  /** ET4. */
  readonly recent: RecentEntries<TailedEvent>;
  /** By second of when ingest took them. */
  readonly ofSecond: Map<number, number>;
}

/** The events of a source for those who look on. */
export interface WatchedEvents {
  readonly recent: RecentEntries<TailedEvent>;
  readonly freshness: () => Freshness;
}

export class EventTail {
  readonly #options: EventTailOptions;
  readonly #asked = new Map<string, Asked>();
  #end: TopicEnd | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: EventTailOptions) {
    this.#options = options;
  }

  /** The newest events of a source, newest first; null where the end of the topic could not be read in time. */
  async newest(sourceId: string): Promise<readonly TailedEvent[] | null> {
    const asked = this.#ask(sourceId);
    const isThere = await this.#isAtEnd();
    return isThere ? asked.events.toSorted(newestFirst) : null;
  }

  /**
   * ET4, until `signal` says so. Throws the Problem `unavailable` where the end of the topic could not be read in time,
   * `too_many_requests` where too many sources are watched.
   */
  async watch(sourceId: string, signal: AbortSignal): Promise<WatchedEvents> {
    const asked = this.#ask(sourceId);
    asked.watchers += 1;
    const leave = () => {
      asked.watchers -= 1;
      asked.lastAskedMs = this.#options.monotonicMs();
    };
    const isThere = await this.#isAtEnd();
    if (!isThere || signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    if (!isThere) throw new Problem("unavailable", "calls: not read yet: try again soon");
    const freshness = () => {
      const asOfMs = this.#end?.asOfMs ?? null;
      return freshAsOf(asOfMs, asOfMs !== null);
    };
    return { recent: asked.recent, freshness };
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#asked.clear();
    const end = this.#end;
    this.#end = null;
    await end?.close();
  }

  /** Also where another source that is asked about has the readers begin again meanwhile. */
  async #isAtEnd(): Promise<boolean> {
    for (;;) {
      const end = this.#opened();
      const isThere = await end.reached(PATIENCE_MS);
      if (!isThere || this.#end === end || this.#end === null) return isThere;
    }
  }

  #opened(): TopicEnd {
    this.#timer ??= setInterval(() => this.#forgetQuiet(), QUIET_MS / 6).unref();
    if (this.#end !== null) return this.#end;
    const isCurrent = () => this.#end === end;
    const end = new TopicEnd({
      ...this.#options,
      onRecord: (record) => this.#take(record, isCurrent),
      onBegin: (partition, at) => {
        if (isCurrent()) for (const asked of this.#asked.values()) begin(asked, partition, at);
      },
      onRead: (partition, next) => {
        if (isCurrent()) for (const { recent } of this.#asked.values()) recent.add(partition, next, []);
      },
    });
    this.#end = end;
    return end;
  }

  #ask(sourceId: string): Asked {
    const nowMs = this.#options.monotonicMs();
    let asked = this.#asked.get(sourceId);
    if (asked === undefined) {
      this.#makeRoom();
      const recent = new RecentEntries<TailedEvent>(RECENT_BOUNDS);
      asked = { lastAskedMs: nowMs, watchers: 0, events: [], recent, ofSecond: new Map() };
      // What went by before nobody kept: a source that is new here is looked for again from before the end.
      this.#end?.close().catch(() => undefined);
      this.#end = null;
    }
    asked.lastAskedMs = nowMs;
    this.#asked.delete(sourceId);
    this.#asked.set(sourceId, asked);
    return asked;
  }

  /** ET3. */
  #makeRoom(): void {
    const { maxSources = MAX_SOURCES } = this.#options;
    if (this.#asked.size < maxSources) return;
    for (const [id, { watchers }] of this.#asked) {
      if (watchers > 0) continue;
      this.#asked.delete(id);
      return;
    }
    const detail = `the calls of ${maxSources} sources are followed at this process`;
    throw new Problem("too_many_requests", detail, [], { "retry-after": "5" });
  }

  async #take(record: IncomingRecord, isCurrent: () => boolean): Promise<void> {
    const { key, value, partition, offset } = record;
    const sourceId = key?.toString("latin1", 0, Math.max(0, key.indexOf(":"))) ?? "";
    const asked = this.#asked.get(sourceId);
    if (asked === undefined || value === null || offset < (asked.recent.nextOf(partition) ?? 0)) return;
    const second = Math.floor(record.timestampMs / 1000);
    const count = asked.ofSecond.get(second) ?? 0;
    if (count >= A_SECOND) return;
    asked.ofSecond.set(second, count + 1);
    const event = await this.#decode(value);
    if (event === null || !isCurrent()) return;
    const tailed = { event, partition, offset };
    asked.events.push(tailed);
    const entry = { offset, place: 0, value: tailed, bytes: EVENT_BYTES + value.length };
    asked.recent.add(partition, offset + 1, [entry]);
    if (asked.events.length < 2 * MAX_EVENTS) return;
    asked.events = asked.events.sort(newestFirst).slice(0, MAX_EVENTS);
    for (const old of asked.ofSecond.keys()) if (old < second - MAX_EVENTS) asked.ofSecond.delete(old);
  }

  /** Null for bytes that are no event: the router puts them aside, and a list goes on without them. */
  async #decode(value: Buffer): Promise<Event | null> {
    const { codec } = this.#options;
    try {
      await codec.prefetch(value);
      return codec.decode(value);
    } catch (error) {
      if (isUnreadable(error) || isPosthasteError(error, "registry_unavailable")) return null;
      throw error;
    }
  }

  #forgetQuiet(): void {
    const sinceMs = this.#options.monotonicMs() - QUIET_MS;
    for (const [id, { lastAskedMs, watchers }] of this.#asked) {
      if (watchers === 0 && lastAskedMs < sinceMs) this.#asked.delete(id);
    }
    if (this.#asked.size === 0) this.close().catch(() => undefined);
  }
}

/** Goes on where it stood: what lies between is a gap, and a topic that ends before that was made anew. */
function begin(asked: Asked, partition: number, at: { readonly from: number; readonly end: number }): void {
  const next = asked.recent.nextOf(partition);
  if (next !== undefined && next > at.end) {
    asked.recent.clear();
    asked.events = [];
  }
  if (next === undefined || next < at.from || next > at.end) asked.recent.begin(partition, at.from);
  asked.recent.sawEnd(partition, at.end);
}

function newestFirst(a: TailedEvent, b: TailedEvent): number {
  return b.event.receivedAtMs - a.event.receivedAtMs || b.partition - a.partition || b.offset - a.offset;
}
