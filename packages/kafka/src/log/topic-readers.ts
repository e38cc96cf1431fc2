/**
 * Follows every partition of a topic.
 *
 * Owns: a reader for each partition, and the timer of the next look at the topic.
 * - A reader that fails begins again at the next look, at the offset that `from` gives then. A topic that does not
 *      exist yet is waited for. A partition that has no leader, or that is added, is looked for again; the readers of
 *      the others go on meanwhile.
 * TP1  When somebody recreated the topic (LR3, LR5 of log-reader.ts), everything read of it is void: with `onRemade`,
 *      the next look ends all readers, and they begin again in the new topic.
 * - A failure that lasts is logged once, not at every look.
 */
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "../connection/connect.ts";
import { withDeadline } from "../connection/deadline.ts";
import { toPosthasteError } from "../connection/kafka-errors.ts";
import { ledOffsets, type PartitionOffsets, topicOffsets } from "../connection/topic-offsets.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import { type FetchedTo, followLog } from "./log-reader.ts";

/** The ms between two looks at the topic: while something is amiss, and otherwise. */
const LOOK_MS = 2000;
const IDLE_LOOK_MS = 30_000;

export interface TopicReadersOptions {
  readonly topic: string;
  /** See `LogReaderOptions`. */
  readonly topicId: string | null;
  /** The most bytes of one fetch: every partition is read at once. */
  readonly maxBytes: number;
  /** The offset at which the reading of a partition begins. */
  readonly from: (begun: PartitionOffsets, all: readonly PartitionOffsets[]) => number | "start";
  /** As of `LogReaderOptions`. When `signal` is aborted, the reader has ended: another one may read the same again. */
  readonly onRecords: (
    partition: number,
    records: readonly IncomingRecord[],
    signal: AbortSignal,
  ) => Promise<void> | void;
  readonly onFetched?: (partition: number, at: FetchedTo) => void;
  /** Called after each look. */
  readonly onLooked?: (offsets: readonly PartitionOffsets[]) => void;
  /** Called when a look failed, and when the reader of a partition failed. */
  readonly onFailure?: (reason: Error, partition: number | null) => void;
  /** Forgets everything that was read (TP1). Resolves when the new topic may be read. */
  readonly onRemade?: () => Promise<void>;
  /** Whether `caughtUp` waits for partitions that have no leader at first. */
  readonly awaitsLeaderless?: boolean;
  /** True where the next look has time, if every partition is read; true by default. */
  readonly isIdle?: () => boolean;
  /** The consequence of a failure, for the log. */
  readonly message: string;
  readonly lookMs?: number;
  readonly idleLookMs?: number | undefined;
}

interface Awaited {
  readonly ends: readonly PartitionOffsets[];
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
  /** Aborted once nobody waits any more. */
  readonly signal: AbortSignal;
}

export class TopicReaders {
  /** Resolves when everything was read that the first look found where there is a leader; rejects with `closed`. */
  readonly caughtUp: Promise<void>;
  readonly #connection: KafkaConnection;
  readonly #options: TopicReadersOptions;
  /** For each partition that is read, the end of its reader. */
  readonly #following = new Map<number, AbortController>();
  /** For each partition, the offset below which everything was taken. */
  readonly #positions = new Map<number, number>();
  /** For each partition, when the brokers named the last end up to which it was read; ms since the epoch. */
  readonly #readToEndMs = new Map<number, number>();
  readonly #awaited = new Set<Awaited>();
  readonly #firstLook = Promise.withResolvers<readonly PartitionOffsets[]>();
  #topicId: string | null;
  #offsets: readonly PartitionOffsets[] | null = null;
  #hasLeaderless = false;
  #wasRemade = false;
  #isReported = false;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | null = null;

  constructor(connection: KafkaConnection, options: TopicReadersOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#topicId = options.topicId;
    this.caughtUp = this.#firstLook.promise.then((ends) => this.#reached(ends));
    // Callers get the rejection, but there may be none.
    this.caughtUp.catch(() => undefined);
    this.#lookLater(0);
  }

  /** Everything that stood in the topic at this moment has been taken; null where that is not known. */
  get asOfMs(): number | null {
    if (this.#offsets === null || this.#hasLeaderless) return null;
    const moments = this.#offsets.map(({ partition }) => this.#readToEndMs.get(partition) ?? null);
    return moments.reduce(
      (oldest, each) => (oldest === null || each === null ? null : Math.min(oldest, each)),
      moments[0] ?? null,
    );
  }

  /**
   * Resolves with the topic's offsets of this moment, when everything was taken below their ends. Rejects with
   * `deadline_exceeded`.
   */
  async refresh(timeoutMs: number): Promise<readonly PartitionOffsets[]> {
    const { topic } = this.#options;
    const enough = new AbortController();
    const read = async (): Promise<readonly PartitionOffsets[]> => {
      const offsets = await topicOffsets(this.#connection, topic);
      await this.#reached(offsets, enough.signal);
      return offsets;
    };
    return await withDeadline(read(), timeoutMs, `reading ${topic} to its end`).finally(() => enough.abort());
  }

  /** Resolves when the topic's partitions are known and their readers begin; rejects with `closed`. */
  async begun(): Promise<void> {
    await this.#firstLook.promise;
  }

  /** Ends the reader of a partition, which begins again at the next look. */
  restart(partition: number): void {
    this.#end(partition);
    // Without a timer a look is under way, which sets one when it ends.
    if (this.#timer !== null) this.#lookLater(this.#lookMs);
  }

  /** Stops at once, without waiting for a call of `onRecords` that has not ended. */
  close(): void {
    this.#closing.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const partition of this.#following.keys()) this.#end(partition);
    const reason = new PosthasteError("closed", "the readers are closed");
    this.#firstLook.reject(reason);
    for (const { reject } of this.#awaited) reject(reason);
    this.#awaited.clear();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  get #lookMs(): number {
    return this.#options.lookMs ?? LOOK_MS;
  }

  #lookLater(afterMs: number): void {
    if (this.#isClosed) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      this.#timer = null;
      const isWhole = await this.#look().catch((reason: unknown) => this.#failed(reason, null));
      const { isIdle, idleLookMs = IDLE_LOOK_MS } = this.#options;
      this.#lookLater(isWhole && isIdle?.() !== false ? idleLookMs : this.#lookMs);
    }, afterMs);
  }

  /** Returns whether every partition is read. */
  async #look(): Promise<boolean> {
    const askedAtMs = Date.now();
    const { offsets, leaderless } = await ledOffsets(this.#connection, this.#options.topic);
    if (this.#wasRemade && this.#options.onRemade !== undefined) {
      for (const partition of this.#following.keys()) this.#end(partition);
      await this.#options.onRemade();
      this.#positions.clear();
      this.#topicId = null;
      this.#wasRemade = false;
    }
    if (this.#isClosed) return false;
    this.#isReported = false;
    this.#hasLeaderless = offsets.length === 0 || leaderless.length > 0;
    // While another question of the brokers is answered, a topic may seem to have no leader at all.
    if (offsets.length === 0) return false;
    for (const each of offsets) {
      if (this.#following.has(each.partition)) continue;
      if (each.end <= each.start && !this.#readToEndMs.has(each.partition)) {
        this.#readToEndMs.set(each.partition, askedAtMs);
      }
      this.#begin(each.partition, this.#options.from(each, offsets));
    }
    this.#offsets = offsets;
    this.#options.onLooked?.(offsets);
    if (!this.#hasLeaderless || this.#options.awaitsLeaderless !== true) this.#firstLook.resolve(offsets);
    return !this.#hasLeaderless && this.#following.size === offsets.length;
  }

  #begin(partition: number, from: number | "start"): void {
    const { topic, maxBytes, onRecords, onFetched } = this.#options;
    const ending = new AbortController();
    const { signal } = ending;
    this.#following.set(partition, ending);
    const onFailure = (reason: unknown) => {
      if (signal.aborted) return;
      this.#failed(reason, partition);
      this.restart(partition);
    };
    followLog(this.#connection, {
      ...{ topic, topicId: this.#topicId, partition, from, maxBytes, signal, onFailure },
      onRecords: (records) => onRecords(partition, records, signal),
      onFetched: (at) => {
        if (signal.aborted) return;
        this.#fetched(partition, at);
        onFetched?.(partition, at);
      },
    }).catch(onFailure);
  }

  #end(partition: number): void {
    this.#following.get(partition)?.abort();
    this.#following.delete(partition);
  }

  #fetched(partition: number, { position, end, askedAt }: FetchedTo): void {
    this.#positions.set(partition, position);
    if (position >= end) this.#readToEndMs.set(partition, askedAt.wallMs);
    for (const awaited of this.#awaited) this.#settle(awaited);
  }

  async #reached(ends: readonly PartitionOffsets[], signal = this.#closing.signal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const awaited = { ends, resolve, reject, signal };
    this.#awaited.add(awaited);
    this.#settle(awaited);
    await promise;
  }

  #settle(awaited: Awaited): void {
    const { ends, resolve, signal } = awaited;
    const isThere = ({ partition, start, end }: PartitionOffsets) =>
      end <= start || (this.#positions.get(partition) ?? 0) >= end;
    if (!signal.aborted && !ends.every(isThere)) return;
    this.#awaited.delete(awaited);
    resolve();
  }

  #failed(error: unknown, partition: number | null): false {
    if (this.#isClosed) return false;
    const reason = toPosthasteError(error, `reading ${this.#options.topic}`);
    if (isPosthasteError(reason, "offset_out_of_range")) this.#wasRemade = true;
    this.#options.onFailure?.(reason, partition);
    const { topic, message } = this.#options;
    const isKnown = partition === null && this.#isReported;
    const event = partition === null ? "topic_not_followed" : "topic_reader_failed";
    if (!isKnown) this.#connection.log.warn({ event, topic, partition, err: reason }, message);
    if (partition === null) this.#isReported = true;
    return false;
  }
}
