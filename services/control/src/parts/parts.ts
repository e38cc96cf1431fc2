/**
 * Opens control's parts, each after the parts that it needs. `app.ts` says when they begin to work, `routes.ts` which
 * calls they answer.
 */
import { openCanary } from "@posthaste/canary/open-canary";
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { Event } from "@posthaste/core/event/event";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { findOldRecords } from "@posthaste/operations/old-records";
import { Teller } from "@posthaste/operations/teller";
import { openReadModel, readModelPath } from "@posthaste/read-model/read-model";
import type { Traces } from "@posthaste/runtime/traces";
import type { Registry } from "prom-client";
import type { ControlConfig } from "../config.ts";
import { openAccess } from "../configuration/access/open-access.ts";
import { openAudiences } from "../configuration/audiences/open-audiences.ts";
import { openSourceCalls } from "../configuration/sources/open-source-calls.ts";
import { DestinationDeadLetters } from "../delivery-log/deliveries/destination-dead-letters.ts";
import { VisibleDeadLetters } from "../delivery-log/deliveries/visible-dead-letters.ts";
import { openResends } from "../delivery-log/resends/open-resends.ts";
import { openUnreadable } from "../delivery-log/unreadable/open-unreadable.ts";
import { openHealth } from "../health/health/open-health.ts";
import { createControlMetrics } from "../metrics.ts";
import { openDeletions } from "../operations/deletions/open-deletions.ts";
import { LeaderTasks } from "../operations/jobs/leader-tasks.ts";
import { openLosses } from "../operations/losses/open-losses.ts";
import { openReplays } from "../operations/replays/open-replays.ts";
import { openTestReceivers } from "../operations/test-receivers/open-test-receivers.ts";
import { type Clients, openClients } from "./clients.ts";
import { type Configuration, openConfiguration } from "./configuration.ts";

export interface PartsOptions {
  readonly config: ControlConfig;
  readonly host: string;
  readonly log: Log;
  readonly registry: Registry;
  /** Undefined while traces are off. */
  readonly traces: Traces | undefined;
  /** Ends the process: the tables cannot be read. */
  readonly fail: (reason: Error) => void;
  readonly clock: Clock;
  /** Of S3 of config-store.ts. */
  readonly writer: number;
  /** The port on which the server listens, or will listen. */
  readonly port: () => number;
  /** Opens the codecs. Default: the codecs of the registry in the settings. */
  readonly openCodec?: OpenCodec | undefined;
}

export type Parts = Awaited<ReturnType<typeof openParts>>;

/** Resolves when the readers of every table have begun. */
export async function openParts(options: PartsOptions) {
  const clients = await openClients(options);
  const configuration = await openConfiguration(clients, options);
  const readers = await openReaders(clients, configuration, options);
  const actors = await openActors(clients, configuration, readers, options);
  return { ...clients, ...configuration, ...readers, ...actors };
}

type Readers = Awaited<ReturnType<typeof openReaders>>;

/** Opens the read model of attempts and dead letters, the log of quarantined records, the access, and the audiences. */
async function openReaders(clients: Clients, configuration: Configuration, options: PartsOptions) {
  const { names, connection, openCodec } = clients;
  const { audit, sources } = configuration;
  const { config, clock, log, writer, fail } = options;
  const { trail } = audit;
  const unknownSchemaMs = config.POSTHASTE_UNKNOWN_SCHEMA_WAIT;
  const unreadable = await openUnreadable({ connection, names, clock, trail, fail });
  const metrics = createControlMetrics(options.registry);
  const readModel = openReadModel({
    onFailed: () => metrics.deliveryLogFailures.inc(),
    ...{ unreadable, unknownSchemaMs, connection, openCodec, names },
    path: await readModelPath(config.POSTHASTE_CONTROL_DATA_DIR, log),
    maxEntries: config.POSTHASTE_DELIVERY_LOG_ENTRIES ?? null,
    keepMs: config.POSTHASTE_DELIVERY_LOG_KEEP,
  });
  const access = await openAccess({
    ...{ origins: config.POSTHASTE_CONSOLE_ORIGINS, port: options.port },
    ...{ connection, openCodec, names, adminToken: config.POSTHASTE_ADMIN_TOKEN, clock, log, writer, trail },
  });
  const audiences = await openAudiences({
    ...{ connection, openCodec, names, sources, clock, writer, trail, unreadable, unknownSchemaMs, fail },
    onEmitted: (identifies) => metrics.audienceIdentifies.inc(identifies),
    onDropped: (records) => metrics.audienceRecordsDropped.inc(records),
    folder: config.POSTHASTE_CONTROL_DATA_DIR ?? null,
    ratePerSecond: config.POSTHASTE_AUDIENCE_RATE,
    syncUsersPerSecond: config.POSTHASTE_AUDIENCE_SYNC_RATE,
    leaseMs: config.POSTHASTE_AUDIENCE_LEASE,
  });
  const losses = await openLosses({ connection, names, clock, trail, fail });
  return { unreadable, readModel, access, metrics, audiences, losses };
}

/** Opens the parts that act on existing events and dead letters: deletions, replays, resends, tests, and health. */
async function openActors(clients: Clients, configuration: Configuration, readers: Readers, options: PartsOptions) {
  const { names, connection, openCodec } = clients;
  const { producer, audit, sources, destinations } = configuration;
  const { readModel } = readers;
  const { config, clock, log, writer, traces, fail } = options;
  const { trail } = audit;
  const deletions = await openDeletions({
    ...{ producer, clock, log, writer, trail },
    ...{ connection, openCodec, names, sources, destinations, readModel, fail },
    suppressionDays: config.POSTHASTE_SUPPRESSION_DAYS,
  });
  const { suppressed } = deletions;
  const leader = new LeaderTasks({ log });
  const replays = await openReplays({
    ...{ leader, connection, openCodec, names, destinations, suppressed, readModel },
    ...{ clock, log, writer, trail, fail, traces },
    onReplayed: (deliveries) => readers.metrics.replayedDeliveries.inc(deliveries),
  });
  const sourceCalls = await openSourceCalls({
    ...{ connection, openCodec, names, clock, sources, readModel, suppressed },
    unknownSchemaMs: config.POSTHASTE_UNKNOWN_SCHEMA_WAIT,
    ingestUrl: config.POSTHASTE_INGEST_URL ?? null,
  });
  const testReceivers = openTestReceivers({
    ...{ isOn: config.POSTHASTE_TEST_RECEIVER, destinations, clock },
    url: () => `http://${options.host}:${options.port()}`,
  });
  const canary = openCanary({
    ...{ isOn: config.POSTHASTE_CANARY, ingestUrl: config.POSTHASTE_INGEST_URL ?? null },
    ...{ sources, destinations, metrics: readers.metrics.canary, clock, log },
    origin: () => config.POSTHASTE_CANARY_ORIGIN ?? `http://${options.host}:${options.port()}`,
  });
  const settleOf = (destinationId: string) => destinations.get(destinationId)?.settle ?? "any";
  const deadLetters = new VisibleDeadLetters({ readModel, suppressed, past: replays.past, settleOf });
  const destinationDeadLetters = new DestinationDeadLetters({ readModel, deadLetters, nowMs: clock.nowMs });
  const health = await openHealth({
    ...{ connection, openCodec, names, destinations, readModel, clock, fail },
    deadLetters: (destinationId) => destinationDeadLetters.count(destinationId),
  });
  leader.add("health", (signal) => health.removeGone(signal));
  const teller = new Teller({
    ...{ names, facts: readers.losses.facts, producer, codec: await openCodec<Event>("event") },
    ...{ known: () => health.known.all(), nowMs: clock.nowMs, log },
    oldRecords: (nowMs) => findOldRecords(connection, names, nowMs),
    failedLately: (id) => health.known.recent(id).lastHour.failed.some((failed) => failed > 0),
    openDeadLetters: async (id) => {
      // While the dead letters are read again after a start, there seem to be fewer.
      if (!readModel.freshness("dead_letters").complete) return null;
      return destinationDeadLetters.count(id).then(
        ({ open }) => open,
        () => null,
      );
    },
  });
  leader.add("operations", async (signal) => {
    await health.pastKnown(signal);
    await teller.tell(signal);
  });
  const resends = await openResends({
    ...{ connection, openCodec, names, destinations, readModel, deadLetters, suppressed, trail, log, traces },
  });
  return { deletions, replays, sourceCalls, testReceivers, canary, deadLetters, health, resends };
}

/** Closes each part that writes before the producer that it writes with, and the connection last. */
export async function closeParts(parts: Parts): Promise<void> {
  await parts.replays.close();
  await parts.resends.close();
  await parts.health.close();
  await Promise.all([parts.access.close(), parts.audit.close(), parts.sourceCalls.close()]);
  await Promise.all([parts.readModel.close(), parts.audiences.close(), parts.deletions.close()]);
  await Promise.all([parts.unreadable.close(), parts.losses.close()]);
  await parts.sender.close();
  await parts.producer.close();
  await Promise.all([parts.sources.close(), parts.destinations.close()]);
  await parts.connection.close();
}
