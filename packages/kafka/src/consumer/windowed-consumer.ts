/**
 * The terms of windowed consumption, for whoever consumes: what a record becomes, and what is asked of its handler.
 *
 * A window holds the records of one owned partition that were taken in and are not finished. Records are taken in while
 * the window has space, run at once (in order within a lane) and finish in any order. The committed offset follows the
 * lowest unfinished record (C1).
 */
import type { Clock } from "@posthaste/core/time";
import type { Backpressure } from "../connection/backpressure.ts";
import type { TopicIds } from "../connection/topic-id.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";

/** One owned partition's window as its handler sees it. */
export interface PartitionWindow {
  readonly topic: string;
  readonly partition: number;
  /** Records that were taken in and are not finished, waiting for their lane included. */
  readonly records: number;
  /** Bytes of their keys and values. */
  readonly bytes: number;
  readonly maxRecords: number;
  /** True while the window's limits let nothing more be taken in. */
  readonly isFull: boolean;
  /** Kafka's own id of the topic, by which its offsets are told from those of a topic that had the name before. */
  readonly topicId?: string | undefined;
  /** True from the moment the partition was given up: what finishes now counts for nothing and need not be sent. */
  readonly isRevoked: boolean;
  /** How many of its records belong to `owner`, by the option `ownerOf`. */
  ownedBy(owner: string): number;
}

/** A record that was taken in. It stands in the window until it is finished. */
export interface Task<T> {
  readonly item: T;
  readonly record: IncomingRecord;
  readonly window: PartitionWindow;
  /** Its outcome is durable (C2). A second call, and one after the partition was given up, does nothing. */
  finish(): void;
}

/** State over the records of a partition in their order, saved with the committed offset (D3). Mutable. */
export interface CheckpointedState<F> {
  /** True when the state shows that the same thing stands earlier in the partition (D2). */
  isRepeat(value: F): boolean;
  /** In the order of the log where `isRepeat` is asked too, else in any. */
  note(value: F): void;
  /** Should keep to `MAX_STATE_BYTES`: it shares 4,096 with the window's finished runs and goes before them. */
  encode(): string;
}

export interface Checkpoint<T, F> {
  /**
   * What the state needs of an item. It is kept until the committable offset has passed the record, so keep it small.
   */
  pick(item: T): F;
  /**
   * Of values in any order those that suffice: noting them leaves a state as noting all would. Those kept are then few.
   */
  readonly condense: (values: readonly F[]) => F[];
  /** The state over nothing for null, else the one that `encode` wrote; what cannot be read counts as nothing. */
  open(text: string | null): CheckpointedState<F>;
}

/** Limits of one partition's window. One record is always taken in, however large it is. */
export interface WindowLimits {
  readonly maxRecords: number;
  readonly maxBytes: number;
}

/** What the partitions of a consumer hold together while nothing holds them up. */
export interface WorkingSet {
  /** Records. Each owned partition has an equal share. */
  readonly records: number;
  /** Of one partition, however many are owned. */
  readonly leastShare: number;
  /** Whether records of this owner wait for something outside of this process, so that others come by beside them. */
  readonly isHeldUp: (owner: string) => boolean;
  /** Whether this process had hardly any time left since it was asked last. */
  readonly isBusy: () => boolean;
}

export interface WindowedConsumerOptions<T, F = never> {
  readonly groupId: string;
  /** One group has one subscription (C7). */
  readonly topics: readonly string[];
  readonly window: WindowLimits;
  /** Less than the windows' limits, which is enough while nothing holds them up; the limits when left out. */
  readonly workingSet?: WorkingSet;
  /** Bounds what records become, where that is more than the records: while it holds, no window takes anything in. */
  readonly backpressure?: Backpressure;
  /**
   * A codec's `prefetch`: what `take` decodes by it has its schema, unless the registry did not know that for
   * `unknownSchemaMs`. The partition's intake waits for it.
   */
  readonly schemaOf?: (value: Buffer) => Promise<void> | undefined;
  /** What `take` needs and must be fetched first; the partition's intake waits for it. Made of `schemaOf`. */
  readonly prefetch?: (record: IncomingRecord) => Promise<void> | undefined;
  /** Told of the values that are fetched and stand behind a record that waits for what it needs. */
  readonly prefetchAhead?: (value: Buffer) => void;
  /**
   * Decodes, once a record, in offset order; also records that the commit's metadata says are finished, for the
   * checkpoint's sake. Throwing ends the consumer by `onFailure`, so a poison record must become an item.
   */
  readonly take: (record: IncomingRecord, window: PartitionWindow) => T;
  /** Tasks of one lane run one at a time, in offset order; null runs at once. Lanes do not reach over partitions. */
  readonly laneOf: (item: T, record: IncomingRecord) => string | null;
  /**
   * Starts the work. Where it returns a promise, the task is finished when that resolves, and a rejection is a bug that
   * ends the consumer by `onFailure`. Where it returns nothing, the handler calls `task.finish()`, now or later: the
   * way without a promise a record. What it does before it first waits happens in offset order, lanes permitting.
   */
  readonly run: (task: Task<T>) => Promise<void> | void;
  /**
   * State over exactly the records below the committed offset; records that it shows to be repeats are finished unrun.
   */
  readonly checkpoint?: Checkpoint<T, F>;
  /**
   * Kafka's own ids of the topics, where the caller has settled on them; asked for at the start otherwise. Each commit
   * says its topic's, and a commit that says another is of a log that is gone, so its partition is read from the start.
   * A commit that says none is trusted.
   */
  readonly topicIds?: TopicIds | undefined;
  /** What to do about an offset outside the log, for the text of `offset_out_of_range`. */
  readonly outOfRangeAdvice?: string | undefined;
  /** A record was finished unrun because the checkpoint showed it to be a repeat. */
  readonly onRepeat?: (item: T, record: IncomingRecord) => void;
  /** Whom a record is counted for, by `ownedBy`. */
  readonly ownerOf?: (item: T) => string;
  /** A partition's window became full. Called when intake stops, not once a record. */
  readonly onFull?: (window: PartitionWindow) => void;
  /** Makes the topics retry topics: how long each one's records wait before they are run (W1). Fixed by topic. */
  readonly delayMsOf?: (topic: string) => number;
  /** A waiting record was released, so long after it was due. */
  readonly onReleased?: (topic: string, latenessMs: number) => void;
  readonly onAssigned?: (windows: readonly PartitionWindow[]) => void;
  /**
   * Before each JOIN of a member that owns something, and before it leaves: what it does beside the records, since the
   * partitions are its own, is to end by then. Waited for as long as for tasks that run (C4), and at the same time.
   */
  readonly onDrain?: () => Promise<void>;
  /** The JOIN is over: these stayed this member's all the while. After `onRevoked`, before `onAssigned`. */
  readonly onKept?: (windows: readonly PartitionWindow[]) => void;
  readonly onRevoked?: (windows: readonly PartitionWindow[]) => void;
  /**
   * The consumer has ended by itself and took no leave of its group: `group_stalled`, `offset_out_of_range`,
   * `topic_missing`, `topic_mismatch` when a topic was made anew, `broker_unavailable` when kafkajs gave up after all,
   * or `internal` for a bug. The process should end too. Called once.
   */
  readonly onFailure: (reason: Error) => void;
  /** For tests and special cases; what is left out has its default. */
  readonly timing?: Partial<ConsumerTiming>;
  /** The process's own when left out. */
  readonly clock?: Clock;
}

/** All in ms. */
export interface ConsumerTiming {
  /** A process that was killed is missed after this long. Default 10,000. */
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /**
   * How long a fetch waits at the broker for records while a partition is paused, and so how long until it is fetched
   * once it is resumed. Default 20, 100 for retry topics.
   */
  readonly maxWaitMs: number;
  /** The same while none is paused, so that nobody waits for the fetch to end. Default 1,000. */
  readonly idleMaxWaitMs: number;
  readonly commitIntervalMs: number;
  /** How long a rebalance waits for what runs (C4). Default 1,000. */
  readonly rebalanceDrainMs: number;
  /** How long a rebalance and `stop` wait, after that, for the last commit (C4). Default 1,000. */
  readonly lastCommitMs: number;
  /** A commit that is not accepted for so long counts as refused, and asks for a rejoin (C10). Default 5,000. */
  readonly commitDeadlineMs: number;
  /** How long `stop` waits for what runs. Default 6,000: a POST takes 5 s at the most. */
  readonly stopDrainMs: number;
  /**
   * Without a commit, or news of a partition that is to be fetched, for so long the consumer ends itself (C7). Default
   * 60,000.
   */
  readonly stallLimitMs: number;
  /**
   * How old the picture of topics and partitions may grow: an added partition is read from so long after. Default
   * 60,000.
   */
  readonly metadataMaxAgeMs: number;
  /** How long a record waits for a schema that the registry says it does not know. Default 600,000. */
  readonly unknownSchemaMs: number;
}

export interface WindowedConsumer {
  /**
   * Resolves when the group was joined; partitions follow. Waits for brokers that do not answer yet. Rejects with
   * `topic_missing`, with `closed` when it was stopped meanwhile, and with what `onFailure` was called with meanwhile.
   */
  start(): Promise<void>;
  /** Stops intake, waits for what runs (at most `stopDrainMs`), commits, leaves the group at once. Idempotent. */
  stop(): Promise<void>;
  /** True while the group is joined and every owned partition's place was found. */
  readonly isReady: boolean;
  /** The windows of the owned partitions. */
  owned(): readonly PartitionWindow[];
}
