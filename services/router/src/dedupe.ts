/**
 * The dedupe: the message ids that each events partition of this process had lately.
 *
 * Owns: a `RecentIds` for each partition that had an event since it was assigned, and the readers that rebuild them.
 * DD1  Routing never waits for the dedupe. When a partition's first event comes, a rebuild begins to read the records
 *      below it in the background; until it has, a duplicate may pass. The dedupe helps against clients that resend,
 *      and is no part of the delivery guarantee.
 * DD2  A partition that was given up is forgotten with its reader.
 * DD3  A rebuild that fails is logged and not repeated; the ids that come from then on are held all the same.
 * DD4  Ids are hashed under a seed that each process draws, so that nobody can choose an id that counts as another.
 */
import { randomInt } from "node:crypto";
import type { Codec } from "@posthaste/contracts/codec";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import type { Log } from "@posthaste/core/log";
import { type Hash64, hash64 } from "@posthaste/core/routing/hash64";
import { RecentIds, type RecentIdsLimits } from "@posthaste/core/routing/recent-ids";
import { isUnreadable } from "@posthaste/kafka/codec/unreadable";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { followLog } from "@posthaste/kafka/log/log-reader";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import type { EventPlace } from "./event-place.ts";

export interface DedupeOptions {
  readonly connection: KafkaConnection;
  readonly eventsTopic: string;
  readonly codec: Codec<Event>;
  readonly limits: RecentIdsLimits;
  /** The seed of the hashes, drawn at random and told to nobody. */
  readonly seed: Hash64;
  readonly log: Log;
}

/** Draws a random seed. */
export function drawSeed(): Hash64 {
  return { high: randomInt(2 ** 32), low: randomInt(2 ** 32) };
}

export interface Dedupe {
  /**
   * Notes the event's message id. Returns the offset, in the same partition, at which the same source sent it first;
   * null when it did not send it before. Call in offset order for each partition.
   */
  readonly firstOffset: (event: Event, place: EventPlace) => number | null;
  /** Forgets a partition that was given up. */
  readonly forget: (partition: number) => void;
  readonly close: () => Promise<void>;
}

interface Noted {
  readonly ids: RecentIds;
  readonly seed: Hash64;
}

interface Held extends Noted {
  readonly rebuild: Promise<void>;
  readonly abandon: () => void;
}

export function createDedupe(options: DedupeOptions): Dedupe {
  const partitions = new Map<number, Held>();
  const forget = (partition: number): void => {
    partitions.get(partition)?.abandon();
    partitions.delete(partition);
  };
  return {
    firstOffset: (event, { partition, offset }) => {
      let held = partitions.get(partition);
      if (held === undefined) {
        held = startRebuild(options, { partition, offset });
        partitions.set(partition, held);
      }
      return note(held, event, offset);
    },
    forget,
    close: async () => {
      const rebuilds = [...partitions.values()].map(({ rebuild }) => rebuild);
      for (const partition of [...partitions.keys()]) forget(partition);
      await Promise.all(rebuilds);
    },
  };
}

function note({ ids, seed }: Noted, event: Event, offset: number): number | null {
  return ids.firstOffset(hash64(seed, event.sourceId, event.messageId), offset, event.receivedAtMs);
}

/** Starts to read the `limit` records below the first event of a partition that was just assigned. */
function startRebuild(options: DedupeOptions, first: EventPlace): Held {
  const { connection, eventsTopic, codec, limits, seed, log } = options;
  const ids = new RecentIds(limits);
  const abandoning = new AbortController();
  const { signal } = abandoning;

  const noteOld = async (record: IncomingRecord): Promise<void> => {
    if (signal.aborted || record.offset >= first.offset || record.value === null) return;
    try {
      await codec.prefetch(record.value);
      note({ ids, seed }, codec.decode(record.value), record.offset);
    } catch (error) {
      // The record was counted as unreadable when it was routed; the ids of the others count all the same.
      if (!isUnreadable(error)) throw error;
    }
  };
  const read = async (): Promise<void> => {
    if (first.offset === 0) return;
    let failed: (reason: Error) => void = () => {};
    const failure = new Promise<never>((_, reject) => {
      failed = reject;
    });
    const reader = await followLog(connection, {
      topic: eventsTopic,
      partition: first.partition,
      from: Math.max(0, first.offset - limits.limit),
      onRecords: async (records) => {
        for (const record of records) await noteOld(record);
      },
      onFailure: failed,
      signal,
    });
    try {
      await Promise.race([reader.reached(first.offset), failure]);
    } finally {
      await reader.close();
    }
  };
  const rebuild = read().catch((error: unknown) => {
    if (signal.aborted && isPosthasteError(error, "closed")) return;
    log.warn({ event: "dedupe_rebuild_failed", partition: first.partition, err: error });
  });
  return { ids, seed, rebuild, abandon: () => abandoning.abort() };
}
