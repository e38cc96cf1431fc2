/**
 * The newest events of the sources that somebody asks about, read from the end of `posthaste.events`.
 *
 * Owns: the readers of the topic's end while somebody asks, and the newest events of each source that somebody asks
 * about.
 * ET1  While nobody asks, nothing is read: the readers begin with the first question, some records before the end, and
 *      end half a minute after the last one.
 * ET2  The tail keeps the newest events of a source (`newest-events.ts`). It does not even decode an event of a source
 *      that nobody asks about, or of a second of which enough events are kept.
 * ET3  At most `BOUNDS.sources` sources are held at once: a new one takes the place of the source that nobody watches
 *      and nobody has asked about for longest. At most `BOUNDS.watched` of them are watched at once, so that the others
 *      always leave places for questions.
 * ET4  A caller who watches a source gets its events as the readers read them (`recent-entries.ts`), for as long as the
 *      caller watches. Records that the readers passed over are a gap there; the readers wait for an event whose schema
 *      the registry does not answer with.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { PosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import type { Freshness } from "@posthaste/core/freshness";
import { Problem } from "@posthaste/http-kit/problem";
import type { AwaitedSchemas } from "@posthaste/kafka/codec/awaited-schemas";
import { followedSchemas } from "@posthaste/kafka/codec/followed-schemas";
import { decodeOrReason } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { RecentEntries } from "@posthaste/kafka/log/recent-entries";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { NewestEvents, type TailedEvent } from "./newest-events.ts";
import { type BegunReading, TopicEnd } from "./topic-end.ts";

export interface EventTailOptions {
  readonly connection: KafkaConnection;
  readonly topic: string;
  readonly codec: Codec<Event>;
  /** How long, in ms, the readers wait for a schema that the registry does not know (AW2 of awaited-schemas.ts). */
  readonly unknownSchemaMs: number;
  /** The time in ms by a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** For tests; instead of `BOUNDS`. */
  readonly bounds?: { readonly sources: number; readonly watched: number };
  /** For tests, as of `TopicEndOptions`. */
  readonly idleLookMs?: number;
  /** For tests; instead of `PATIENCE_MS`, and of `MOST_PATIENCE_MS` for a watch. */
  readonly patienceMs?: number;
}

const QUIET_MS = 30_000;
/** ET3. */
const BOUNDS = { sources: 60, watched: 50 };
/** The time, in ms, for which a question waits for the readers to reach the end. Then it gets the held events. */
const PATIENCE_MS = 2_000;
/**
 * The same where the readers begin again and again, and for a watch: a browser does not reopen a stream that was
 * refused.
 */
const MOST_PATIENCE_MS = 10_000;

/** About how many bytes of memory an event takes beside its encoded bytes. */
const EVENT_BYTES = 500;
/** The bounds on the entries that are held of each source for those who watch it (ET4). */
const RECENT_BOUNDS = { maxEntries: 500, maxBytes: 512 * 1024 };

interface Asked {
  lastAskedMs: number;
  watchers: number;
  readonly newest: NewestEvents;
  /** ET4. */
  readonly recent: RecentEntries<TailedEvent>;
}

/** The newest events of a source, newest first. */
export interface ListedEvents {
  readonly events: readonly TailedEvent[];
  readonly freshness: Freshness;
}

/** The events of a source for a caller who watches it. */
export interface WatchedEvents {
  readonly recent: RecentEntries<TailedEvent>;
  readonly freshness: () => Freshness;
}

export class EventTail {
  readonly #options: EventTailOptions;
  readonly #asked = new Map<string, Asked>();
  readonly #closing = new AbortController();
  readonly #schemas: AwaitedSchemas;
  #end: TopicEnd | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: EventTailOptions) {
    this.#options = options;
    this.#schemas = followedSchemas(options, "event_tail_waits_for_schema", this.#closing.signal);
  }

  /** The newest events of the source, once the readers have reached the end or `patienceMs` have passed. */
  async newest(sourceId: string): Promise<ListedEvents> {
    const asked = this.#ask(sourceId);
    await this.#isAtEnd(this.#options.patienceMs ?? PATIENCE_MS);
    return { events: asked.newest.list(), freshness: this.#freshness() };
  }

  /**
   * ET4: watches the source until `signal` is aborted. Rejects with the Problem `unavailable` where the readers do not
   * reach the end in time, and with `too_many_requests` where too many sources are watched.
   */
  async watch(sourceId: string, signal: AbortSignal): Promise<WatchedEvents> {
    this.#assertMayWatch(sourceId);
    const asked = this.#ask(sourceId);
    asked.watchers += 1;
    const leave = () => {
      asked.watchers -= 1;
      asked.lastAskedMs = this.#options.monotonicMs();
    };
    const isThere = await this.#isAtEnd(this.#options.patienceMs ?? MOST_PATIENCE_MS);
    if (!isThere || signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    if (!isThere) throw new Problem("unavailable", "calls: not read yet: try again soon");
    return { recent: asked.recent, freshness: () => this.#freshness() };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#rest();
  }

  #freshness(): Freshness {
    const asOfMs = this.#end?.asOfMs ?? null;
    return { asOfMs, complete: asOfMs !== null };
  }

  async #rest(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#asked.clear();
    const end = this.#end;
    this.#end = null;
    await end?.close();
  }

  /**
   * Whether the readers reach the end within `patienceMs`. Where a question about another source makes the readers
   * begin again meanwhile, it waits for those, until `MOST_PATIENCE_MS` have passed.
   */
  async #isAtEnd(patienceMs: number): Promise<boolean> {
    const { monotonicMs } = this.#options;
    const untilMs = monotonicMs() + MOST_PATIENCE_MS;
    for (;;) {
      const end = this.#opened();
      const isThere = await end.reached(patienceMs);
      const isOfOthers = this.#end !== end && this.#end !== null;
      if (!isOfOthers || monotonicMs() >= untilMs) return isThere;
    }
  }

  #opened(): TopicEnd {
    this.#timer ??= setInterval(() => this.#forgetQuiet(), QUIET_MS / 6).unref();
    if (this.#end !== null) return this.#end;
    const { connection, topic, idleLookMs } = this.#options;
    const end = new TopicEnd({
      ...{ connection, topic, ...(idleLookMs === undefined ? {} : { idleLookMs }) },
      onRecord: (record, signal) => this.#take(record, signal),
      onBegin: (begun) => {
        for (const asked of this.#asked.values()) begin(asked, begun);
      },
      onRead: (partition, next) => {
        for (const { recent } of this.#asked.values()) recent.add(partition, next, []);
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
      asked = { lastAskedMs: nowMs, watchers: 0, newest: new NewestEvents(), recent };
      // The readers kept none of the source's events so far, so they begin again some records before the end.
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
    const { bounds = BOUNDS } = this.#options;
    if (this.#asked.size < bounds.sources) return;
    const [longestAgo] = [...this.#asked].find(([, { watchers }]) => watchers === 0) ?? [];
    if (longestAgo !== undefined) this.#asked.delete(longestAgo);
  }

  /** ET3. */
  #assertMayWatch(sourceId: string): void {
    const { bounds = BOUNDS } = this.#options;
    const watched = [...this.#asked].filter(([id, { watchers }]) => watchers > 0 && id !== sourceId);
    if (watched.length < bounds.watched) return;
    const detail = `the calls of ${bounds.watched} sources are followed at this process`;
    throw new Problem("too_many_requests", detail, [], { "retry-after": "5" });
  }

  async #take(record: IncomingRecord, signal: AbortSignal): Promise<void> {
    const { key, value, partition, offset } = record;
    const sourceId = key?.toString("latin1", 0, Math.max(0, key.indexOf(":"))) ?? "";
    const asked = this.#asked.get(sourceId);
    if (asked === undefined || value === null || offset < (asked.recent.nextOf(partition) ?? 0)) return;
    const { newest, recent } = asked;
    const { timestampMs } = record;
    if (newest.isFull(timestampMs)) return;
    const event = await this.#decode(value);
    // While this event was being decoded, events of other partitions may have filled the second.
    if (event === null || signal.aborted || newest.isFull(timestampMs)) return;
    const tailed = { event, partition, offset };
    const bytes = EVENT_BYTES + value.length;
    newest.add(tailed, { timestampMs, bytes });
    recent.add(partition, offset + 1, [{ offset, place: 0, value: tailed, bytes }]);
  }

  /** Null for bytes that are no event: the router puts them aside, and a list leaves them out. */
  async #decode(value: Buffer): Promise<Event | null> {
    await this.#schemas.prefetch(value);
    const event = decodeOrReason(this.#options.codec, value);
    return event instanceof PosthasteError ? null : event;
  }

  #forgetQuiet(): void {
    const sinceMs = this.#options.monotonicMs() - QUIET_MS;
    for (const [id, { lastAskedMs, watchers }] of this.#asked) {
      if (watchers === 0 && lastAskedMs < sinceMs) this.#asked.delete(id);
    }
    if (this.#asked.size === 0) this.#rest().catch(() => undefined);
  }
}

/**
 * Begins to hold a source's events from where the readers begin, or goes on from where they stood; the records passed
 * over between are a gap. Where somebody recreated the topic, or it ends before the records read, everything held is
 * dropped.
 */
function begin(asked: Asked, { topicId, partitions }: BegunReading): void {
  const { recent } = asked;
  const { restarts } = recent;
  recent.beginTopic(topicId);
  if (partitions.some(({ partition, end }) => (recent.nextOf(partition) ?? 0) > end)) recent.clear();
  if (recent.restarts !== restarts) asked.newest.clear();
  for (const { partition, from, end } of partitions) {
    const next = recent.nextOf(partition);
    if (next === undefined || next < from) recent.begin(partition, from);
    recent.sawEnd(partition, end);
  }
}
