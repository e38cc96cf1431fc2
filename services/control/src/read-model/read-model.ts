/**
 * The delivery log, the dead letters, the events without a delivery, the rejected calls, the sources' activity and the
 * history of destinations as control answers for them: a cache of six topics, behind by about as long as a record takes
 * to be read.
 *
 * Owns: the store and the followers that fill it.
 * Q1  Nothing of control waits for it: it is opened beside the start, runs on a thread of its own, and while it cannot
 *     be asked only its own questions are refused.
 * Q2  Whatever goes wrong in it ends all of it, and it is opened again after a pause: one way back, from every state.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import { isPosthasteError } from "@posthaste/core/errors";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { readTopicIds } from "@posthaste/kafka/connection/topic-id";
import type { UnreadableRecords } from "@posthaste/kafka/producer/unreadable-records";
import { type Freshness, freshAsOf } from "../http/freshness.ts";
import { Problem } from "../http/problem.ts";
import { RecentEntries } from "../recent-entries.ts";
import type { JournalBounds } from "./journal.ts";
import {
  type Followed,
  followJournals,
  type JournalFollowers,
  openJournalCodecs,
  type RecentJournals,
} from "./journal-followers.ts";
import { type HeldRange, type JournalName, ofEach } from "./store.ts";
import { openStore, type StoreClient, type StoreQuestions } from "./store-client.ts";

const REOPEN_MS = 5000;
/** Longer is not waited for at the end: whatever is not written is read again. */
const CLOSE_MS = 2000;
/** Of what ingest did not take, for those who look on. */
const CALL_BOUNDS = { maxEntries: 10_000, maxBytes: 4 * 1024 * 1024 };
/** Dead letters stay in their topic for this long. */
const DEAD_LETTERS_KEEP_MS = 14 * 24 * 60 * 60 * 1000;
/** A destination may have stood for years as it stands. */
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;
const KEEP_MS: Partial<Record<JournalName, number>> = {
  dead_letters: DEAD_LETTERS_KEEP_MS,
  destination_config: FOR_EVER_MS,
};
/** Held where nothing else is said: with a file, and in memory, where each takes about half a kilobyte. */
const FILE_ENTRIES = 1_000_000;
const MEMORY_ENTRIES = 100_000;
/** Of refused requests, at the most: some kilobytes each, in words of whoever sent them. */
const REFUSED_ENTRIES = 200_000;

export interface ReadModelOptions {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: TopicNames;
  /** The database's file; null for memory. */
  readonly path: string | null;
  /** Entries of each journal; null for the default. */
  readonly maxEntries: number | null;
  /** How long attempts are kept, ms. */
  readonly keepMs: number;
  readonly unreadable: Pick<UnreadableRecords, "put">;
  /** How long a record waits for a schema that the registry says it does not know, ms. */
  readonly unknownSchemaMs: number;
}

/** Where the reading of a topic stands, in words for `/readyz`. */
export type ReadModelState = Readonly<Record<"deliveryLog" | "deadLetters", string>>;

/** Each question throws a Problem while it cannot be asked. */
export interface ReadModel extends StoreQuestions {
  /** Whether all that stood in the journal's topic at the last look was read. */
  isComplete(journal: JournalName): boolean;
  freshness(journal: JournalName): Freshness;
  state(): ReadModelState;
  /** How far the first reading of its topics is; null before it begins and once it is over. */
  reading: JournalFollowers["reading"];
  /** From where on, and up to where, every dead letter of a partition is held (M4 of store.ts), and of which topic. */
  heldLetters(): Promise<HeldLetters>;
  /** What comes, as it comes, however often the read model is opened again. */
  readonly recent: RecentJournals;
  close(): Promise<void>;
}

export interface HeldLetters {
  /** Empty where it is not known. */
  readonly topicId: string;
  readonly ranges: readonly HeldRange[];
}

interface Opened {
  readonly letterTopicId: string;
  readonly store: StoreClient;
  readonly followed: Readonly<Record<JournalName, Followed>>;
  readonly reading: JournalFollowers["reading"];
}

export function openReadModel(options: ReadModelOptions): ReadModel {
  const { log } = options.connection;
  const closing = new AbortController();
  let opened: Opened | null = null;
  const recent: RecentJournals = {
    ...{ attempts: new RecentEntries(), dead_letters: new RecentEntries() },
    ...{ rejected_calls: new RecentEntries(CALL_BOUNDS), refused_requests: new RecentEntries(CALL_BOUNDS) },
  };

  async function runUntilClosed(): Promise<void> {
    const { signal } = closing;
    while (!signal.aborted) {
      try {
        await runOnce({ ...options, recent }, signal, (value) => {
          opened = value;
        });
      } catch (error) {
        log.error({ event: "delivery_log_failed", err: error }, "the delivery log is opened again");
      }
      if (!signal.aborted) await delay(REOPEN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  const running = runUntilClosed();

  const behind = (journal: JournalName): number | null => opened?.followed[journal].behind ?? null;
  const state = (journal: JournalName): string => {
    const records = behind(journal);
    if (records === null) return "not read yet";
    return records === 0 ? "up to date" : `${records} records to read`;
  };
  const store = (): StoreClient => {
    if (opened === null) throw new Problem("unavailable", "the delivery log is being opened: try again soon");
    return opened.store;
  };

  return {
    recent,
    isComplete: (journal) => behind(journal) === 0,
    freshness: (journal) => {
      const asOfMs = opened?.followed[journal].asOfMs ?? null;
      return freshAsOf(asOfMs, asOfMs !== null && behind(journal) === 0);
    },
    state: () => ({ deliveryLog: state("attempts"), deadLetters: state("dead_letters") }),
    reading: () => opened?.reading() ?? null,
    newest: async (journal, query) => store().newest(journal, query),
    search: async (journal, query) => store().search(journal, query),
    heldLetters: async () => {
      const ranges = await store().heldLetters();
      return { topicId: opened?.letterTopicId ?? "", ranges };
    },
    letterHours: async (query) => store().letterHours(query),
    alikeLetters: async () => store().alikeLetters(),
    letterEvent: async (event) => store().letterEvent(event),
    letterRows: async (query) => store().letterRows(query),
    at: async (journal, places) => store().at(journal, places),
    counts: async (journal, query) => store().counts(journal, query),
    outcomes: async (journal, messageIds) => store().outcomes(journal, messageIds),
    waiting: async () => store().waiting(),
    waitingTimes: async (destinationId, fromMs) => store().waitingTimes(destinationId, fromMs),
    replayed: async (replayIds) => store().replayed(replayIds),
    healthWrittenToMs: async () => store().healthWrittenToMs(),
    addHealth: async (minute) => store().addHealth(minute),
    health: async (query) => store().health(query),
    close: async () => {
      closing.abort();
      const enough = new AbortController();
      await Promise.race([running, delay(CLOSE_MS, undefined, { signal: enough.signal }).catch(() => undefined)]);
      enough.abort();
    },
  };
}

/**
 * Opens the store, follows the topics, and resolves when `signal` says so, everything closed; rejects when something
 * failed.
 */
async function runOnce(
  options: ReadModelOptions & { readonly recent: RecentJournals },
  signal: AbortSignal,
  onOpen: (opened: Opened | null) => void,
): Promise<void> {
  const { connection, openCodec, names, path, unreadable, unknownSchemaMs, recent } = options;
  const { clusterId } = await connection.withAdmin((admin) => admin.describeCluster());
  // Positions in another topic of the name would mean nothing.
  const ofEvents = [names.attempts, names.deadLetters, names.unrouted, names.rejectedCalls, names.sourceActivity];
  const topics = [...ofEvents, names.destinationConfig];
  const topicIds = await Promise.all(topics.map((topic) => idOf(connection, topic, signal)));
  const codecs = await openJournalCodecs(openCodec);
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
  const { followers, ...journals } = followJournals(connection, {
    ...{ store, unreadable, unknownSchemaMs, names, codecs, recent },
    topicIds: new Map(topics.map((topic, index) => [topic, topicIds[index] ?? ""])),
    onRemade: ended.reject,
  });
  onOpen({ store, ...journals, letterTopicId: topicIds[topics.indexOf(names.deadLetters)] ?? "" });
  try {
    if (!signal.aborted) await ended.promise;
  } finally {
    onOpen(null);
    await Promise.all(followers.map((follower) => follower.close()));
    await store.close();
  }
}

/** Empty for a topic that is not there yet, and where the cluster has none. */
async function idOf(connection: KafkaConnection, topic: string, signal: AbortSignal): Promise<string> {
  try {
    return (await readTopicIds(connection, [topic], { signal, missingPatienceMs: 0 })).get(topic) ?? "";
  } catch (error) {
    if (signal.aborted || isPosthasteError(error, "topic_missing")) return "";
    throw error;
  }
}

function boundsOf(options: ReadModelOptions, defaultEntries: number): Readonly<Record<JournalName, JournalBounds>> {
  const maxEntries = options.maxEntries ?? defaultEntries;
  return ofEach((name) => ({
    maxEntries: name === "refused_requests" ? Math.min(maxEntries, REFUSED_ENTRIES) : maxEntries,
    keepMs: KEEP_MS[name] ?? options.keepMs,
  }));
}
