/**
 * One client's stream of server-sent events. The stream makes its text only when the client can take more.
 *
 * Owns: how far the stream got in each of its feeds.
 * LV1  The id of an event names, for each partition of each feed, the first entry that the stream has not sent. A
 *      client that reconnects with the id gets every entry from there on, each once, from whichever process it reaches.
 *      Only health may repeat some (LH2 of health-changes.ts).
 * LV2  Where the process no longer holds the entries from there on, or somebody made the topic anew, the stream sends a
 *      `reset` and goes on from that moment.
 * LV3  The stream begins with a `beat` and sends one every `heartbeatMs` from then on: a stream that is silent for
 *      longer is dead.
 * LV4  Nothing waits for a slow client: all streams share the held entries, and a client that comes too late for an
 *      entry misses it.
 */
import { setTimeout as delay, setImmediate as yieldToOthers } from "node:timers/promises";
import { type Freshness, mergedFreshness } from "@posthaste/core/freshness";
import type { Clock } from "@posthaste/core/time";
import { freshAnswer } from "@posthaste/http-kit/freshness";
import type { EntryPlace } from "@posthaste/kafka/log/recent-entries";
import type { LiveFilter, LiveTopicName } from "./live-filter.ts";
import { decodePosition, encodePosition, isBelow, type TopicPosition } from "./live-position.ts";
import type { LiveEntry, LiveFeed } from "./live-topic.ts";

/** The stream stops making events of one feed, for the moment, once they have this many characters. */
const STEP_LENGTH = 32 * 1024;

/**
 * The most entries of one feed that the stream looks at before it lets others run, whether the filter shows them or
 * not.
 */
const STEP_ENTRIES = 500;

/** The stream gathers the entries of this many ms into one write. */
const GATHER_MS = 20;

/** The ms after which a browser reconnects by itself. */
const RETRY_MS = 1000;

export interface LiveStreamOptions {
  readonly feeds: readonly LiveFeed[];
  readonly filter: LiveFilter;
  /** The id of the last event that the client saw. */
  readonly lastId: string | undefined;
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** How far a stream is in one feed. */
interface Cursor extends LiveFeed {
  readonly at: Map<number, EntryPlace>;
  restarts: number;
  /** The number of the next entry to look at. */
  number: number;
}

interface LiveStep {
  readonly events: string;
  /** True where the stream has not looked at every held entry yet. */
  readonly isMore: boolean;
}

/** The bytes of the stream, until `signal` is aborted. */
export async function* liveEvents(options: LiveStreamOptions): AsyncGenerator<Uint8Array> {
  const { signal, clock, heartbeatMs, feeds } = options;
  const stream = new LiveStream(options);
  const waker = new Waker(signal);
  const forget = feeds.map(({ topic }) => topic.recent.onChange(() => waker.wake()));
  try {
    yield Buffer.from(`retry: ${RETRY_MS}\n\n${stream.heartbeat()}`);
    let heartbeatAtMs = clock.monotonicMs() + heartbeatMs;
    while (!signal.aborted) {
      const { events, isMore } = stream.next();
      const isDue = clock.monotonicMs() >= heartbeatAtMs;
      if (isDue) heartbeatAtMs = clock.monotonicMs() + heartbeatMs;
      const text = isDue ? events + stream.heartbeat() : events;
      if (text !== "") yield Buffer.from(text);
      if (text !== "" || isMore) await yieldToOthers();
      else await waker.sleep({ atLeastMs: GATHER_MS, atMostMs: heartbeatAtMs - clock.monotonicMs() });
    }
  } finally {
    for (const each of forget) each();
  }
}

class LiveStream {
  readonly #filter: LiveFilter;
  readonly #cursors: readonly Cursor[];
  readonly #beganAtMs: number;
  /** The topics for which the stream has yet to send a `reset`. */
  readonly #lost = new Set<LiveTopicName>();

  constructor({ feeds, filter, lastId, clock }: LiveStreamOptions) {
    this.#filter = filter;
    this.#beganAtMs = clock.nowMs();
    const seen = lastId === undefined ? new Map<string, TopicPosition>() : decodePosition(lastId);
    this.#cursors = feeds.map((feed) => {
      const { recent } = feed.topic;
      const { restarts, nextNumber } = recent;
      const at = seen?.get(feed.letter);
      if (seen === null) this.#lost.add(feed.name);
      return at === undefined
        ? { ...feed, at: recent.now(), restarts, number: nextNumber }
        : { ...feed, at: feed.topic.resumeFrom(at), restarts, number: 0 };
    });
    for (const cursor of this.#cursors) this.#findGap(cursor);
  }

  /** The next events as text; empty where there are none among the entries that the stream looked at. */
  next(): LiveStep {
    for (const cursor of this.#cursors) this.#findGap(cursor);
    let [events, isMore] = [this.#reset(), false];
    for (const cursor of this.#cursors) {
      events += this.#entriesOf(cursor);
      isMore ||= cursor.number < cursor.topic.recent.nextNumber;
    }
    return { events, isMore };
  }

  /** LV3. */
  heartbeat(): string {
    for (const cursor of this.#cursors) this.#findOther(cursor);
    const lost = this.#reset();
    return `${lost}event: beat\nid: ${this.#id()}\ndata: ${JSON.stringify(freshAnswer(this.#freshness()))}\n\n`;
  }

  #entriesOf(cursor: Cursor): string {
    const { name, topic, at } = cursor;
    let [text, looked] = ["", 0];
    for (const entry of topic.select(this.#filter, cursor.number)) {
      if (text.length >= STEP_LENGTH || looked >= STEP_ENTRIES) return text;
      looked += 1;
      cursor.number = entry.number + 1;
      if (isBelow(entry, at.get(entry.partition) ?? FIRST)) continue;
      at.set(entry.partition, { offset: entry.offset, place: entry.place + 1 });
      text += this.#eventOf(name, entry);
    }
    // The stream has now seen every record of the topic, those without an entry too.
    for (const partition of topic.recent.partitions()) {
      const next = { offset: topic.recent.nextOf(partition) ?? 0, place: 0 };
      if (isBelow(at.get(partition) ?? FIRST, next)) at.set(partition, next);
    }
    return text;
  }

  #eventOf(name: LiveTopicName, { row }: LiveEntry): string {
    return row === null ? "" : `event: ${name}\nid: ${this.#id()}\ndata: ${row}\n\n`;
  }

  /** LV2: finds entries that the process dropped before this stream saw them. */
  #findGap({ name, topic, at, restarts }: Cursor): void {
    const { recent } = topic;
    if (recent.restarts !== restarts) this.#lost.add(name);
    for (const partition of recent.partitions()) {
      if (isBelow(at.get(partition) ?? FIRST, recent.floorOf(partition))) this.#lost.add(name);
    }
  }

  /**
   * LV2: finds a position beyond the end of a topic that the process has read to its end since the stream began: the
   * position is of an earlier topic of that name.
   */
  #findOther({ name, topic, at }: Cursor): void {
    const { asOfMs, complete } = topic.freshness();
    if (!complete || asOfMs === null || asOfMs <= this.#beganAtMs) return;
    for (const [partition, { offset }] of at) {
      if (offset > (topic.recent.nextOf(partition) ?? 0)) this.#lost.add(name);
    }
  }

  #reset(): string {
    if (this.#lost.size === 0) return "";
    const topics = [...this.#lost];
    for (const cursor of this.#cursors) {
      if (!this.#lost.has(cursor.name)) continue;
      const { recent } = cursor.topic;
      cursor.at.clear();
      for (const [partition, place] of recent.now()) cursor.at.set(partition, place);
      cursor.restarts = recent.restarts;
      cursor.number = recent.nextNumber;
    }
    this.#lost.clear();
    return `event: reset\nid: ${this.#id()}\ndata: ${JSON.stringify({ topics, ...freshAnswer(this.#freshness()) })}\n\n`;
  }

  #id(): string {
    return encodePosition(new Map(this.#cursors.map(({ letter, at }) => [letter, at])));
  }

  #freshness(): Freshness {
    return this.#cursors.map(({ topic }) => topic.freshness()).reduce(mergedFreshness);
  }
}

const FIRST: EntryPlace = { offset: 0, place: 0 };

interface Sleep {
  /** The sleep lasts at least this many ms, however early `wake` is called. */
  readonly atLeastMs: number;
  readonly atMostMs: number;
}

/** A sleep that a call of `wake` ends. */
class Waker {
  readonly #signal: AbortSignal;
  #isWoken = false;
  #end: (() => void) | null = null;

  /** When `signal` is aborted, every sleep ends. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#end?.());
  }

  /** Ends the sleep under way or, where there is none, the next one. */
  wake(): void {
    this.#isWoken = true;
    this.#end?.();
  }

  async sleep({ atLeastMs, atMostMs }: Sleep): Promise<void> {
    await delay(atLeastMs, undefined, { signal: this.#signal }).catch(() => undefined);
    if (!this.#isWoken && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, atMostMs - atLeastMs));
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#end = null;
    }
    this.#isWoken = false;
  }
}
