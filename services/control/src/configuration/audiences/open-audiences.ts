/** Opens the parts of control that deal with audiences and computed traits. */
import { access, constants, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { audienceAudit } from "@posthaste/audiences/audience-audit";
import { AudienceEmitter } from "@posthaste/audiences/audience-emitter";
import { AudienceRemovals } from "@posthaste/audiences/audience-removals";
import { AudienceSyncs } from "@posthaste/audiences/audience-sync";
import { Membership } from "@posthaste/audiences/membership";
import { SyncPace } from "@posthaste/audiences/sync-pace";
import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import { type ConfigStore, openConfigStore } from "@posthaste/configuration/config-store";
import { type AudienceRecord, createAudienceCodec } from "@posthaste/contracts/audience-codec";
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { MembershipRecord } from "@posthaste/core/audience/membership";
import type { Source } from "@posthaste/core/config/source";
import { isPosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import type { Route } from "@posthaste/http-kit/route";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { createProducer } from "@posthaste/kafka/producer/producer";
import type { UnreadableRecords } from "@posthaste/kafka/producer/unreadable-records";
import { TEMPORARY_FILE } from "@posthaste/read-model/sqlite-cache";
import { AudienceHandlers } from "./audience-handlers.ts";
import { audienceRoutes, memberRoutes } from "./audience-routes.ts";
import { computedTraitRoutes } from "./computed-trait-routes.ts";

export interface AudiencesOptions {
  readonly connection: KafkaConnection;
  readonly openCodec: OpenCodec;
  readonly names: TopicNames;
  readonly sources: ConfigStore<Source>;
  readonly clock: Clock;
  /** Called with the number of identifies that were acknowledged. */
  readonly onEmitted: (identifies: number) => void;
  /** Called with the number of records that became no identify, since their audience was removed. */
  readonly onDropped: (records: number) => void;
  /** The number that names this process in revisions (see ConfigStoreOptions). */
  readonly writer: number;
  readonly trail: AuditTrail;
  /** The folder of the membership's cache; null for a temporary file. */
  readonly folder: string | null;
  /** Identifies per second. */
  readonly ratePerSecond: number;
  /** Users per second that syncs take in, and changes per second that they write. */
  readonly syncUsersPerSecond: number;
  readonly leaseMs: number;
  readonly unreadable: Pick<UnreadableRecords, "put">;
  readonly unknownSchemaMs: number;
  /** Ends the process. */
  readonly fail: (reason: Error) => void;
}

export interface Audiences {
  readonly routes: readonly Route[];
  caughtUp(): Promise<void>;
  /** Starts to send identifies, and to finish removals that another process left. All tables must have caught up. */
  startJobs(): void;
  /** The state of the table of audiences, for `/readyz`. */
  readonly state: true | string;
  close(): Promise<void>;
}

export async function openAudiences(options: AudiencesOptions): Promise<Audiences> {
  const { connection, openCodec, names, sources, clock, writer, leaseMs, ratePerSecond, fail } = options;
  const { unreadable, unknownSchemaMs, onEmitted, onDropped, trail } = options;
  const { log } = connection;
  const [records, codec, events] = await Promise.all([
    openCodec<AudienceRecord>("audience"),
    openCodec<MembershipRecord>("membership"),
    openCodec<Event>("event"),
  ]);
  // There are three producers, so that no lease waits behind a membership, and no membership behind identifies.
  const [configProducer, producer, identifies] = await Promise.all([
    createProducer(connection, { name: "audience-config", topics: [names.audienceConfig, names.audit] }),
    createProducer(connection, { name: "audiences", topics: [names.audiences] }),
    createProducer(connection, { name: "audience-identifies", topics: [names.events] }),
  ]);
  const audiences = await openConfigStore(connection, {
    ...{ producer: configProducer, clock, log, writer },
    topic: names.audienceConfig,
    ...{ trail, auditedFields: audienceAudit },
    codec: createAudienceCodec(records),
    onChange: (_, audience) => {
      if (audience?.isRemoved) removals.look();
    },
  });
  const membership = new Membership({
    ...{ connection, codec, topic: names.audiences, unknownSchemaMs },
    path: await cachePath(options.folder, log),
    onTaken: () => syncs.repairSoon(),
  });
  const syncs = new AudienceSyncs({
    audiences,
    clock,
    log,
    leaseMs,
    topic: names.audiences,
    codec,
    membership,
    producer,
    pace: new SyncPace({ usersPerSecond: options.syncUsersPerSecond, clock }),
  });
  const removals: AudienceRemovals = new AudienceRemovals({ audiences, syncs, clock, log });
  const emitter = new AudienceEmitter(connection, {
    ...{ names, codec, events, audiences, producer: identifies, unreadable, unknownSchemaMs },
    ...{ ratePerSecond, clock, onEmitted, onDropped, onFailure: fail },
  });
  const waiting = () => recordsWaiting(connection, names);
  const handlers = new AudienceHandlers({ audiences, sources, syncs, membership, waiting, clock });

  return {
    routes: [...audienceRoutes(handlers), ...memberRoutes(handlers), ...computedTraitRoutes(handlers)],
    caughtUp: () => audiences.caughtUp(),
    startJobs: () => {
      removals.start();
      emitter.start().catch((reason: Error) => {
        // Control may be stopped before the group was joined.
        if (!isPosthasteError(reason, "closed")) fail(reason);
      });
    },
    get state() {
      return audiences.state;
    },
    close: async () => {
      removals.close();
      await Promise.all([syncs.close(), emitter.stop()]);
      await Promise.all([membership.close(), audiences.close()]);
      await Promise.all([configProducer.close(), producer.close(), identifies.close()]);
    },
  };
}

/** How many records the emitter's group has not finished, by its committed offsets. */
async function recordsWaiting(connection: KafkaConnection, names: TopicNames): Promise<number> {
  const topic = names.audiences;
  const [ends, groups] = await Promise.all([
    topicOffsets(connection, topic),
    connection.withAdmin((admin) => admin.fetchOffsets({ groupId: names.audienceEmitterGroup, topics: [topic] })),
  ]);
  const committed = new Map(
    groups.flatMap(({ partitions }) => partitions.map((each) => [each.partition, Number(each.offset)])),
  );
  return ends.reduce((sum, { partition, start, end }) => {
    return sum + Math.max(0, end - Math.max(start, committed.get(partition) ?? -1));
  }, 0);
}

/**
 * The path of the cache's file: a temporary one where there is no folder, or none can be made. The membership is a
 * cache and no reason not to start, and a million users in memory would take as much again as all of control.
 */
async function cachePath(folder: string | null, log: Log): Promise<string | null> {
  if (folder === null) return temporaryPath();
  try {
    await mkdir(folder, { recursive: true });
    return join(folder, "audiences.sqlite");
  } catch (error) {
    log.warn({ event: "membership_not_kept", reason: String(error) }, "POSTHASTE_CONTROL_DATA_DIR cannot be used");
    return temporaryPath();
  }
}

/** A temporary file; null, for memory, where the machine has nowhere to write. */
async function temporaryPath(): Promise<string | null> {
  return await access(tmpdir(), constants.W_OK).then(
    () => TEMPORARY_FILE,
    () => null,
  );
}
