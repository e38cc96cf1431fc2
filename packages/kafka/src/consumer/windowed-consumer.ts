/**
 * The options of windowed consumption: the value that a record becomes, and the duties of the handler.
 *
 * A window holds the records of one owned partition that were taken in and are not finished. The consumer takes records
 * in while the window has space, runs them at once (within a lane: in order), and lets them finish in any order. The
 * committed offset is the offset of the lowest unfinished record (C1).
 */
import type { AcceptedLoss } from "@posthaste/contracts/accepted-loss";
import type { Clock } from "@posthaste/core/time";
import type { Backpressure } from "../connection/backpressure.ts";
import type { TopicIds } from "../connection/topic-id.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";

/** The window of one owned partition, as its handler sees it. */
export interface PartitionWindow {
  readonly topic: string;
  readonly partition: number;
  /** Records that were taken in and are not finished, those included that wait for their lane. */
  readonly records: number;
  /** Bytes of the keys and values of those records. */
  readonly bytes: number;
  readonly maxRecords: number;
  /** True while the window's limits let it take in nothing more. */
  readonly isFull: boolean;
  /** Kafka's own id of the topic, which tells its offsets from the offsets of an earlier topic with the same name. */
  readonly topicId?: string | undefined;
  /** True once the partition was given up: a task that finishes now has no effect, and its work need not be done. */
  readonly isRevoked: boolean;
  /** How many of the window's records belong to `owner`, by the option `ownerOf`. */
  ownedBy(owner: string): number;
  /** The owner of the lowest unfinished record; undefined when there is no such record or it has no owner. */
  readonly lowestOwner: string | undefined;
}

/** A record in a window, until it is finished. */
export interface Task<T> {
  readonly item: T;
  readonly record: IncomingRecord;
  readonly window: PartitionWindow;
  /**
   * The handler calls it when the record's outcome is durable (C2). A second call does nothing, nor does a call after
   * the partition was given up.
   */
  finish(): void;
}

/** State over the records of a partition in offset order, which is saved with the committed offset (D3). Mutable. */
export interface CheckpointedState<F> {
  /** True when the state shows that the same value stands earlier in the partition (D2). */
  isRepeat(value: F): boolean;
  /**
   * Adds a value. Values come in offset order to a state whose `isRepeat` is asked, and in any order to the other
   * state.
   */
  note(value: F): void;
  /**
   * Keep the text to `MAX_STATE_BYTES`. The commit's metadata has 4,096 bytes for it and for the runs of finished
   * offsets; the text comes first, and runs that do not fit are left out.
   */
  encode(): string;
}

export interface Checkpoint<T, F> {
  /**
   * The part of an item that the state needs. The window keeps it until the committable offset has passed the record,
   * so keep it small.
   */
  pick(item: T): F;
  /** Returns a subset of the values, which come in no order: noting it leaves the state as noting all would. */
  readonly condense: (values: readonly F[]) => F[];
  /**
   * A state over nothing for null; otherwise the state whose `encode` wrote the text. Unreadable text counts as null.
   */
  open(text: string | null): CheckpointedState<F>;
}

/** Limits of one partition's window. An empty window takes a record in, however large the record is. */
export interface WindowLimits {
  readonly maxRecords: number;
  readonly maxBytes: number;
}

/** The records that a consumer's windows hold together while nothing holds them up. */
export interface WorkingSet {
  /** How many records. Each owned partition has an equal share of them. */
  readonly records: number;
  /** The least share of a partition, in records, however many partitions are owned. */
  readonly leastShare: number;
  /** True when this owner's records wait for something outside this process, so that other records must pass them. */
  readonly isHeldUp: (owner: string) => boolean;
  /** True when this process was almost always at work since the last call. */
  readonly isBusy: () => boolean;
}

export interface WindowedConsumerOptions<T, F = never> {
  readonly groupId: string;
  /** The topics to read. All members of a group must name the same topics (C7). */
  readonly topics: readonly string[];
  readonly window: WindowLimits;
  /**
   * A smaller bound than the windows' limits, used while the process is busy and nothing holds the windows up. Without
   * it, windows are filled to their limits.
   */
  readonly workingSet?: WorkingSet;
  /**
   * Bounds the memory of the values that records become, where these are larger than the records. While it holds, no
   * window takes in anything.
   */
  readonly backpressure?: Backpressure;
  /**
   * A codec's `prefetch`. The partition's intake awaits it before `take` decodes the record; `take` then has the
   * schema, unless the registry said for `unknownSchemaMs` that it does not know it.
   */
  readonly schemaOf?: (value: Buffer) => Promise<void> | undefined;
  /**
   * Fetches the schema that `take` needs for a record; the partition's intake awaits it. The consumer makes it from
   * `schemaOf`.
   */
  readonly prefetch?: (record: IncomingRecord) => Promise<void> | undefined;
  /** Called with the values that were fetched behind a record that waits for its prefetch. */
  readonly prefetchAhead?: (value: Buffer) => void;
  /**
   * Decodes a record; called once for each record, in offset order, and for the checkpoint's sake also for records that
   * the commit's metadata names as finished. An exception ends the consumer through `onFailure`, so a poison record
   * must become an item.
   */
  readonly take: (record: IncomingRecord, window: PartitionWindow) => T;
  /**
   * The record's lane in its partition: tasks of one lane run one at a time, in offset order. A record with null runs
   * at once.
   */
  readonly laneOf: (item: T, record: IncomingRecord) => string | null;
  /**
   * Starts the work. When `run` returns a promise, its resolution finishes the task, and its rejection is a bug that
   * ends the consumer through `onFailure`. When `run` returns nothing, the handler calls `task.finish()`, now or later,
   * which saves a promise for each record. Within the limits of lanes, `run` is called in offset order.
   */
  readonly run: (task: Task<T>) => Promise<void> | void;
  /**
   * State over exactly the records below the committed offset. Records that it shows to be repeats are finished without
   * `run`.
   */
  readonly checkpoint?: Checkpoint<T, F>;
  /**
   * Kafka's own ids of the topics, if the caller has read them; otherwise the consumer asks at its start. Each commit
   * names its topic's id. When a partition's commit names another id, its log is gone, and the consumer reads the
   * partition from the start. A commit that names no id is trusted.
   */
  readonly topicIds?: TopicIds | undefined;
  /** Advice to the operator about an offset outside the log, for the text of `offset_out_of_range`. */
  readonly outOfRangeAdvice?: string | undefined;
  /** The losses that operators accepted: such records stop no partition that begins. */
  readonly acceptedLosses?: readonly AcceptedLoss[] | undefined;
  /** A record was finished without `run`, since the checkpoint showed it to be a repeat. */
  readonly onRepeat?: (item: T, record: IncomingRecord) => void;
  /** The owner for which `ownedBy` counts the record. */
  readonly ownerOf?: (item: T) => string;
  /** A partition's window became full while records wait for it. Called once each time, not for each record. */
  readonly onFull?: (window: PartitionWindow) => void;
  /**
   * Makes the topics retry topics: how many ms a topic's records wait before they run (W1). It must answer the same
   * each time.
   */
  readonly delayMsOf?: (topic: string) => number;
  /** A waiting record was released, so many ms after it was due. */
  readonly onReleased?: (topic: string, latenessMs: number) => void;
  readonly onAssigned?: (windows: readonly PartitionWindow[]) => void;
  /**
   * Called before each JOIN of a member that owns partitions, and before the member leaves. It ends the work beside the
   * records that the member does because it owns the partitions. The drain awaits it together with the running tasks,
   * and as long (C4).
   */
  readonly onDrain?: () => Promise<void>;
  /** A JOIN left these partitions with this member without a gap. Called after `onRevoked` and before `onAssigned`. */
  readonly onKept?: (windows: readonly PartitionWindow[]) => void;
  readonly onRevoked?: (windows: readonly PartitionWindow[]) => void;
  /**
   * The consumer has ended by itself without leaving its group: `group_stalled`, `offset_out_of_range`,
   * `topic_missing`, `topic_mismatch` when a topic was recreated, `broker_unavailable` when kafkajs crashed for want of
   * a broker, or `internal` for a bug. The process should end too. Called at most once.
   */
  readonly onFailure: (reason: Error) => void;
  /** For tests and special cases. Times that are left out have their defaults. */
  readonly timing?: Partial<ConsumerTiming>;
  /** Default: the process's clock. */
  readonly clock?: Clock;
}

/** Times of a consumer, all in ms. */
export interface ConsumerTiming {
  /** After this long without a heartbeat the group takes a member for dead. Default 10,000. */
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /**
   * How long a fetch waits at the broker for records while a partition is paused. A partition that is resumed is
   * fetched only after that. Default 20; 100 for retry topics.
   */
  readonly maxWaitMs: number;
  /**
   * How long a fetch waits at the broker while no partition is paused, so that none waits for its end. Default 1,000.
   */
  readonly idleMaxWaitMs: number;
  readonly commitIntervalMs: number;
  /** How long a rebalance waits for running tasks (C4). Default 1,000. */
  readonly rebalanceDrainMs: number;
  /** How long a rebalance and `stop` then wait for the last commit (C4). Default 1,000. */
  readonly lastCommitMs: number;
  /** A commit without an answer for this long counts as refused, and asks for a rejoin (C10). Default 5,000. */
  readonly commitDeadlineMs: number;
  /** How long `stop` waits for running tasks. Default 6,000, since a POST takes 5 s at the most. */
  readonly stopDrainMs: number;
  /**
   * The consumer ends itself when the group took no commit for this long, or a partition with records to fetch brought
   * none (C7). Default 60,000.
   */
  readonly stallLimitMs: number;
  /**
   * After this long kafkajs asks for topics and partitions again, and so notices a partition that was added. Default
   * 60,000.
   */
  readonly metadataMaxAgeMs: number;
  /** How long a record waits for a schema of which the registry says that it does not know it. Default 600,000. */
  readonly unknownSchemaMs: number;
}

export interface WindowedConsumer {
  /**
   * Resolves when the group was joined; partitions follow. Waits for brokers that do not answer yet. Rejects with
   * `topic_missing`, with `closed` when `stop` was called meanwhile, and with the reason for which `onFailure` was
   * called meanwhile.
   */
  start(): Promise<void>;
  /**
   * Stops intake, waits for running tasks (at most `stopDrainMs`), commits, and leaves the group at once. Idempotent.
   */
  stop(): Promise<void>;
  /** True from the first JOIN to `stop`, while every owned partition's place is known. */
  readonly isReady: boolean;
  /** The windows of the owned partitions. */
  owned(): readonly PartitionWindow[];
}
