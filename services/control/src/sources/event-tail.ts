/**
 * The newest events of sources that somebody asks about, from the end of `posthaste.events`.
 *
 * Owns: the readers of the topic's end while somebody asks, and the newest events of each source that is asked about.
 * ET1  Nothing is read while nobody asks: the readers begin with the first question, some records before the end, and
 *      end half a minute after the last one.
 * ET2  Of a source twenty events of a second are kept and no more, of them the newest two hundred; an event of a source
 *      that nobody asks about is not even decoded.
 * ET3  So many sources are asked about at once; the one that was asked about longest ago gives way.
 */
import type { Codec } from "@posthaste/contracts/codec";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import { isUnreadable } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
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
}

const QUIET_MS = 30_000;
const A_SECOND = 20;
const MAX_EVENTS = 200;
const MAX_SOURCES = 50;
/** How long a question waits for the readers to be at the end. */
const PATIENCE_MS = 2_000;

interface Asked {
  lastAskedMs: number;
  events: TailedEvent[];
  /** By second of when ingest took them. */
  readonly ofSecond: Map<number, number>;
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
    this.#end ??= new TopicEnd({ ...this.#options, onRecord: (record) => this.#take(record) });
    this.#timer ??= setInterval(() => this.#forgetQuiet(), QUIET_MS / 6).unref();
    const isThere = await this.#end.reached(PATIENCE_MS);
    return isThere ? asked.events.toSorted(newestFirst) : null;
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#asked.clear();
    const end = this.#end;
    this.#end = null;
    await end?.close();
  }

  #ask(sourceId: string): Asked {
    const nowMs = this.#options.monotonicMs();
    let asked = this.#asked.get(sourceId);
    if (asked === undefined) {
      asked = { lastAskedMs: nowMs, events: [], ofSecond: new Map() };
      // What went by before nobody kept: a source that is new here is looked for again from before the end.
      this.#end?.close().catch(() => undefined);
      this.#end = null;
    }
    asked.lastAskedMs = nowMs;
    this.#asked.delete(sourceId);
    this.#asked.set(sourceId, asked);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > MAX_SOURCES && oldest !== undefined) this.#asked.delete(oldest);
    return asked;
  }

  async #take(record: IncomingRecord): Promise<void> {
    const { key, value, partition, offset } = record;
    const sourceId = key?.toString("latin1", 0, Math.max(0, key.indexOf(":"))) ?? "";
    const asked = this.#asked.get(sourceId);
    if (asked === undefined || value === null) return;
    const second = Math.floor(record.timestampMs / 1000);
    const count = asked.ofSecond.get(second) ?? 0;
    if (count >= A_SECOND || asked.events.some((each) => each.partition === partition && each.offset === offset))
      return;
    asked.ofSecond.set(second, count + 1);
    const event = await this.#decode(value);
    if (event === null) return;
    asked.events.push({ event, partition, offset });
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
    for (const [id, { lastAskedMs }] of this.#asked) if (lastAskedMs < sinceMs) this.#asked.delete(id);
    if (this.#asked.size === 0) this.close().catch(() => undefined);
  }
}

function newestFirst(a: TailedEvent, b: TailedEvent): number {
  return b.event.receivedAtMs - a.event.receivedAtMs || b.partition - a.partition || b.offset - a.offset;
}
