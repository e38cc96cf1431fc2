/**
 * One fetch for all partitions of a broker in which nothing comes, instead of one for each. A process follows dozens of
 * partitions that stand still for hours, and most of its work while idle was to fetch each of them every two seconds.
 *
 * Owns: for each broker a kafkajs client of its own, and a share for each reader whose partition the broker leads. A
 * share is
 * - `apart` at first, and while its reader finds records;
 * - `parked` from when the reader has found nothing new;
 * - `covered` from when a shared fetch is sent that names its partition; only then does the reader stop fetching;
 * - `apart` again when the shared fetch finds something or fails, and when the reader leaves (SF2 to SF4).
 * SF1  A reader never waits for the end of a shared fetch that does not name its partition: until its share is covered,
 *      it fetches by its own client. A reader that parts or leaves does so at once.
 * SF2  A shared fetch brings no records, and so takes no memory. When a partition does not end at its reader's
 *      position, the reader parts, and fetches by its own client, within its own bounds.
 * SF3  When a shared fetch ends without an answer, for an error in one partition or a cut connection, all parked
 *      readers part. Each meets the fault by its own client; readers of healthy partitions park again.
 * SF4  A reader parts after `OWN_FETCH_MS` in any case, since a broker closes a connection that was idle for minutes.
 * - The client is destroyed when the last reader has left.
 */
import type { Clock } from "@posthaste/core/time";
import type { KafkaConnection } from "../connection/connect.ts";
import { withDeadline } from "../connection/deadline.ts";
import type { KafkaClient } from "../connection/kafka-client.ts";
import { describe } from "../connection/kafka-errors.ts";
import { type Broker, createCluster, type FetchRequest, type FetchResponse } from "../kafkajs/kafkajs-internals.ts";
import { type Moment, momentOf } from "./moment.ts";

/** The broker that leads the reader's partition, and how long it may hold a fetch for which it has no record, in ms. */
export interface SharedFetchOptions {
  readonly nodeId: string;
  readonly maxWaitMs: number;
}

export interface FetchShareOptions {
  readonly topic: string;
  readonly partition: number;
  /** A shared fetch found that the partition still ends at the reader's position. */
  readonly onIdle: (askedAt: Moment) => void;
  readonly clock: Clock;
}

export interface FetchShare {
  /** The reader found nothing from `position` on: the next shared fetch names its partition too. */
  park(position: number): void;
  /** Resolves when the reader must fetch by itself; at once while its share is not covered (SF1). */
  wait(): Promise<void>;
  /** The reader found something by itself. */
  part(): void;
  /** The reader has ended, or throws its client away. */
  leave(): void;
}

/** In ms. By default a broker closes a connection that was idle for ten minutes. */
const OWN_FETCH_MS = 4 * 60_000;
const REQUEST_TIMEOUT_MS = 5000;
const CONNECT_DEADLINE_MS = 5000;

const fetchesOf = new WeakMap<KafkaConnection, Map<string, SharedFetch>>();

/** Makes a share, which is `apart`. The shared client connects when the first reader parks. */
export function shareFetch(
  connection: KafkaConnection,
  options: SharedFetchOptions,
  reader: FetchShareOptions,
): FetchShare {
  const fetches = fetchesOf.get(connection) ?? new Map<string, SharedFetch>();
  fetchesOf.set(connection, fetches);
  const key = `${options.nodeId} ${options.maxWaitMs}`;
  const shared = fetches.get(key) ?? new SharedFetch(connection, options);
  fetches.set(key, shared);
  return shared.share(reader);
}

class SharedFetch {
  readonly #connection: KafkaConnection;
  readonly #options: SharedFetchOptions;
  readonly #shares = new Set<ReaderShare>();
  readonly #parked = new Set<ReaderShare>();
  #client: KafkaClient | null = null;
  #broker: Broker | null = null;
  #isRunning = false;

  constructor(connection: KafkaConnection, options: SharedFetchOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  share(options: FetchShareOptions): FetchShare {
    const share = new ReaderShare(options, {
      onPark: () => {
        this.#parked.add(share);
        if (!this.#isRunning) void this.#run(options.topic);
      },
      onPart: () => this.#parked.delete(share),
      onLeave: () => {
        this.#shares.delete(share);
        if (this.#shares.size === 0) this.#disconnect();
      },
    });
    this.#shares.add(share);
    return share;
  }

  /** Fetches as long as a share is parked. */
  async #run(topic: string): Promise<void> {
    this.#isRunning = true;
    try {
      this.#broker ??= await this.#connect(topic);
      while (this.#parked.size > 0) await this.#fetch(this.#broker);
    } catch (error) {
      const { nodeId } = this.#options;
      this.#connection.log.debug({ event: "shared_fetch_failed", nodeId, reason: describe(error) });
      this.#disconnect();
      // All parked readers part (SF3).
      for (const share of this.#parked) share.part();
    } finally {
      this.#isRunning = false;
    }
  }

  /** Finds the broker. Any topic will do, since its metadata names the addresses of all brokers. */
  async #connect(topic: string): Promise<Broker> {
    const client = this.#connection.createClient({ requestTimeoutMs: REQUEST_TIMEOUT_MS });
    this.#client = client;
    const cluster = createCluster(client.kafka);
    const find = async () => {
      await cluster.connect();
      await cluster.addTargetTopic(topic);
      return await cluster.findBroker({ nodeId: this.#options.nodeId });
    };
    return await withDeadline(find(), CONNECT_DEADLINE_MS, "connecting for idle partitions");
  }

  async #fetch(broker: Broker): Promise<void> {
    const shares = [...this.#parked];
    for (const share of shares) share.cover();
    const answer = await broker.fetch(requestOf(shares, this.#options.maxWaitMs));
    const ends = endsOf(answer);
    for (const share of shares) share.hear(ends.get(keyOf(share.topic, share.partition)));
  }

  #disconnect(): void {
    this.#client?.destroy();
    this.#client = null;
    this.#broker = null;
  }
}

interface ShareEvents {
  onPark(): void;
  onPart(): void;
  onLeave(): void;
}

/** When the fetch that covers a share was sent, and when the first of an unbroken series of such fetches was sent. */
interface Cover {
  readonly askedAt: Moment;
  readonly sinceMs: number;
}

class ReaderShare implements FetchShare {
  readonly topic: string;
  readonly partition: number;
  readonly #options: FetchShareOptions;
  readonly #events: ShareEvents;
  /** The position at which the reader found nothing more; null while the share is `apart`. */
  #position: number | null = null;
  /** Null while the share is not `covered`. */
  #cover: Cover | null = null;
  #parted = Promise.withResolvers<void>();

  constructor(options: FetchShareOptions, events: ShareEvents) {
    this.topic = options.topic;
    this.partition = options.partition;
    this.#options = options;
    this.#events = events;
  }

  get position(): number {
    return this.#position ?? 0;
  }

  park(position: number): void {
    if (this.#position !== null) return;
    this.#position = position;
    this.#events.onPark();
  }

  async wait(): Promise<void> {
    if (this.#cover !== null) await this.#parted.promise;
  }

  part(): void {
    if (this.#position === null) return;
    this.#position = null;
    this.#cover = null;
    this.#parted.resolve();
    this.#parted = Promise.withResolvers();
    this.#events.onPart();
  }

  leave(): void {
    this.part();
    this.#events.onLeave();
  }

  cover(): void {
    const askedAt = momentOf(this.#options.clock);
    this.#cover = { askedAt, sinceMs: this.#cover?.sinceMs ?? askedAt.monotonicMs };
  }

  /**
   * `end` is where the fetch found the log's end. It does not count for a reader that parted while the fetch was out.
   */
  hear(end: number | undefined): void {
    if (this.#cover === null) return;
    const { askedAt, sinceMs } = this.#cover;
    const isIdle = end === this.#position;
    if (isIdle) this.#options.onIdle(askedAt);
    if (!isIdle || askedAt.monotonicMs - sinceMs >= OWN_FETCH_MS) this.part();
  }
}

/**
 * A fetch that asks for one byte of all partitions together (SF2). A broker answers it with a whole batch of the first
 * partition that has one, and with the end offsets of all.
 */
function requestOf(shares: readonly ReaderShare[], maxWaitMs: number): FetchRequest {
  const topics = new Map<string, Map<number, number>>();
  for (const { topic, partition, position } of shares) {
    const positions = topics.get(topic) ?? new Map<number, number>();
    topics.set(topic, positions);
    // Several readers may follow one partition. The fetch begins at the lowest position; the end tells the others.
    positions.set(partition, Math.min(position, positions.get(partition) ?? position));
  }
  return {
    maxWaitTime: maxWaitMs,
    minBytes: 1,
    maxBytes: 1,
    isolationLevel: 0,
    topics: [...topics].map(([topic, positions]) => ({
      topic,
      partitions: [...positions].map(([partition, from]) => ({ partition, fetchOffset: String(from), maxBytes: 1 })),
    })),
  };
}

/** The end offset of each partition in an answer, by `keyOf`. */
function endsOf({ responses }: FetchResponse): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const { topicName, partitions } of responses) {
    for (const { partition, highWatermark } of partitions) ends.set(keyOf(topicName, partition), Number(highWatermark));
  }
  return ends;
}

function keyOf(topic: string, partition: number): string {
  return `${topic} ${partition}`;
}
