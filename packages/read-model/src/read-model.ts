/**
 * The read model, from which control answers about the delivery log, the dead letters, the events without a delivery,
 * the rejected calls, the sources' activity and the history of destinations. It is a cache of six topics, which lags by
 * about the time that it takes to read a record.
 *
 * Owns: the store and the followers that fill it.
 * - No other part of control waits for the read model: it opens beside control's start and runs on a thread of its
 *   own; while it cannot be asked, only its own questions are refused.
 * - Any failure in it ends all of it, and it is opened again after a pause: one way back, from every state.
 */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import { isPosthasteError, PosthasteError } from "@posthaste/core/errors";
import type { Freshness } from "@posthaste/core/freshness";
import type { Log } from "@posthaste/core/log";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { pause } from "@posthaste/kafka/connection/deadline";
import { readTopicIds } from "@posthaste/kafka/connection/topic-id";
import { RecentEntries } from "@posthaste/kafka/log/recent-entries";
import type { UnreadableRecords } from "@posthaste/kafka/producer/unreadable-records";
import { keepOpen } from "./keep-open.ts";
import type { ProjectionBounds } from "./projection.ts";
import {
  type Followed,
  followProjections,
  openProjectionCodecs,
  type ProjectionFollowers,
  type RecentProjections,
} from "./projection-followers.ts";
import { type HeldRange, ofEach, PROJECTION_NAMES, type ProjectionName } from "./store.ts";
import { openStore, STORE_QUESTIONS, type StoreClient, type StoreQuestions } from "./store-client.ts";
import { remoteMethods } from "./thread-client.ts";

const REOPEN_MS = 5000;

/** The bounds on the rejected calls held for watching callers. */
const CALL_BOUNDS = { maxEntries: 10_000, maxBytes: 4 * 1024 * 1024 };

/** How long dead letters stay in their topic, in ms. */
const DEAD_LETTERS_KEEP_MS = 14 * 24 * 60 * 60 * 1000;

/** Revisions of destinations do not become too old: a destination may stay unchanged for years. */
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;

const KEEP_MS: Partial<Record<ProjectionName, number>> = {
  dead_letters: DEAD_LETTERS_KEEP_MS,
  destination_config: FOR_EVER_MS,
};

/** The default numbers of entries: with a file, and in memory, where each takes about half a kilobyte. */
const FILE_ENTRIES = 1_000_000;

const MEMORY_ENTRIES = 100_000;

/** The most refused requests: some kilobytes each, with texts chosen by their senders. */
const REFUSED_ENTRIES = 200_000;

export interface ReadModelOptions {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: TopicNames;
  /** The database's file; null for memory. */
  readonly path: string | null;
  /** The most entries of each projection; null for the default. */
  readonly maxEntries: number | null;
  /** How long attempts are kept, ms. */
  readonly keepMs: number;
  readonly unreadable: Pick<UnreadableRecords, "put">;
  /** How long a record waits for a schema that the registry says it does not know, ms. */
  readonly unknownSchemaMs: number;
  /** Called each time that the read model failed and is opened again. */
  readonly onFailed?: () => void;
}

/** The progress of the reading of a topic, in words for `/readyz`. */
export type ReadModelState = Readonly<Record<"deliveryLog" | "deadLetters", string>>;

/** Each question rejects with `delivery_log_unavailable` while the read model cannot be asked. */
export interface ReadModel extends StoreQuestions {
  /** True where everything that stood in the projection's topic at the last look has been read. */
  isComplete(projection: ProjectionName): boolean;
  freshness(projection: ProjectionName): Freshness;
  state(): ReadModelState;
  /** KO2 of keep-open.ts. */
  trouble(): string | null;
  /** The progress of the first reading of its topics; null before it begins and once it is over. */
  reading: ProjectionFollowers["reading"];
  /** The ranges of each partition in which every dead letter is held (M4 of store.ts), and the id of their topic. */
  heldDeadLetters(): Promise<HeldDeadLetters>;
  /** The newest entries for watching callers; they outlive every reopening of the read model. */
  readonly recent: RecentProjections;
  close(): Promise<void>;
}

export interface HeldDeadLetters {
  /** The topic's id; empty where it is not known. */
  readonly topicId: string;
  readonly ranges: readonly HeldRange[];
}

interface Opened {
  readonly deadLetterTopicId: string;
  readonly store: StoreClient;
  readonly followed: Readonly<Record<ProjectionName, Followed>>;
  readonly reading: ProjectionFollowers["reading"];
}

function createRecentProjections(): RecentProjections {
  return {
    ...{ attempts: new RecentEntries(), dead_letters: new RecentEntries() },
    ...{ rejected_calls: new RecentEntries(CALL_BOUNDS), refused_requests: new RecentEntries(CALL_BOUNDS) },
  };
}

export function openReadModel(options: ReadModelOptions): ReadModel {
  let opened: Opened | null = null;
  const recent = createRecentProjections();

  const kept = keepOpen({
    run: (signal) => runOnce({ ...options, recent }, signal, (value) => (opened = value)),
    isWhole: () => PROJECTION_NAMES.every((projection) => behind(projection) === 0),
    pause: (signal) => pause(REOPEN_MS, signal),
    onFailed: (err) => {
      options.onFailed?.();
      options.connection.log.error({ event: "delivery_log_failed", err }, "the delivery log is opened again");
    },
  });

  const behind = (projection: ProjectionName): number | null => opened?.followed[projection].behind ?? null;
  const state = (projection: ProjectionName): string => {
    const records = behind(projection);
    if (records === null) return "not read yet";
    return records === 0 ? "up to date" : `${records} records to read`;
  };
  const store = (): StoreClient => {
    if (opened === null)
      throw new PosthasteError("delivery_log_unavailable", "the delivery log is being opened: try again soon", {
        retryable: true,
      });
    return opened.store;
  };

  const questions = remoteMethods(STORE_QUESTIONS, async ({ method, args }) =>
    (store()[method] as (...given: readonly unknown[]) => Promise<unknown>)(...args),
  );
  return {
    ...(questions as unknown as StoreQuestions),
    recent,
    isComplete: (projection) => behind(projection) === 0,
    freshness: (projection) => {
      const asOfMs = opened?.followed[projection].asOfMs ?? null;
      return { asOfMs, complete: asOfMs !== null && behind(projection) === 0 };
    },
    trouble: kept.trouble,
    state: () => ({ deliveryLog: state("attempts"), deadLetters: state("dead_letters") }),
    reading: () => opened?.reading() ?? null,
    heldDeadLetters: async () => {
      const ranges = await store().heldDeadLetters();
      return { topicId: opened?.deadLetterTopicId ?? "", ranges };
    },
    close: kept.close,
  };
}

/**
 * Opens the store and follows the topics. Resolves when `signal` is aborted and everything is closed; rejects when
 * something failed.
 */
async function runOnce(
  options: ReadModelOptions & { readonly recent: RecentProjections },
  signal: AbortSignal,
  onOpen: (opened: Opened | null) => void,
): Promise<void> {
  const { connection, openCodec, names, path, unreadable, unknownSchemaMs, recent } = options;
  const { clusterId } = await connection.withAdmin((admin) => admin.describeCluster());
  // The ids are part of the store's identity: positions in an earlier topic of the name would mean nothing.
  const ofEvents = [names.attempts, names.deadLetters, names.unrouted, names.rejectedCalls, names.sourceActivity];
  const topics = [...ofEvents, names.destinationConfig];
  const topicIds = await Promise.all(topics.map((topic) => idOf(connection, topic, signal)));
  const codecs = await openProjectionCodecs(openCodec);
  if (signal.aborted) return;

  const ended = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => ended.resolve());
  const store = await openStore(
    {
      path,
      identity: [clusterId, names.attempts, ...topicIds].join("/"),
      bounds: boundsOf(options, FILE_ENTRIES),
      memoryBounds: boundsOf(options, MEMORY_ENTRIES),
    },
    ended.reject,
  );
  if (store.start.trouble !== null)
    connection.log.warn({ event: "delivery_log_not_kept", reason: store.start.trouble });
  const { followers, ...projections } = followProjections(connection, {
    ...{ store, unreadable, unknownSchemaMs, names, codecs, recent },
    topicIds: new Map(topics.map((topic, index) => [topic, topicIds[index] ?? ""])),
    onRemade: ended.reject,
  });
  onOpen({ store, ...projections, deadLetterTopicId: topicIds[topics.indexOf(names.deadLetters)] ?? "" });
  try {
    if (!signal.aborted) await ended.promise;
  } finally {
    onOpen(null);
    await Promise.all(followers.map((follower) => follower.close()));
    await store.close();
  }
}

/** The topic's id; empty where the topic does not exist yet, or the cluster has no topic ids. */
async function idOf(connection: KafkaConnection, topic: string, signal: AbortSignal): Promise<string> {
  try {
    return (await readTopicIds(connection, [topic], { signal, missingPatienceMs: 0 })).get(topic) ?? "";
  } catch (error) {
    if (signal.aborted || isPosthasteError(error, "topic_missing")) return "";
    throw error;
  }
}

function boundsOf(
  options: ReadModelOptions,
  defaultEntries: number,
): Readonly<Record<ProjectionName, ProjectionBounds>> {
  const maxEntries = options.maxEntries ?? defaultEntries;
  return ofEach((name) => ({
    maxEntries: name === "refused_requests" ? Math.min(maxEntries, REFUSED_ENTRIES) : maxEntries,
    keepMs: KEEP_MS[name] ?? options.keepMs,
  }));
}

/**
 * The path of the file; null, for memory, where no folder is set or it cannot be made: the read model is a cache, so
 * this must not keep control from starting.
 */
export async function readModelPath(folder: string | undefined, log: Log): Promise<string | null> {
  if (folder === undefined) return null;
  try {
    await mkdir(folder, { recursive: true });
    return join(folder, "delivery-log.sqlite");
  } catch (error) {
    log.warn({ event: "delivery_log_not_kept", reason: String(error) }, "POSTHASTE_CONTROL_DATA_DIR cannot be used");
    return null;
  }
}
