/**
 * Control's parts and how they are put together: two config tables with their writer, a sender for tests, the read
 * model of attempts and dead letters, deletion requests and suppressions, the audiences, the HTTP server.
 */
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createDestinationCodec, type DestinationRecord } from "@posthaste/contracts/destination-codec";
import { createSecretBox } from "@posthaste/contracts/secret-box";
import { createSourceCodec, type SourceRecord } from "@posthaste/contracts/source-codec";
import { createTopicNames } from "@posthaste/contracts/topics";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { createKafkaMetrics } from "@posthaste/kafka/connection/metrics";
import { createProducer } from "@posthaste/kafka/producer/producer";
import type { Readiness } from "@posthaste/runtime/admin-server";
import { kafkaAccess, registryAccess } from "@posthaste/runtime/connection-settings";
import { createWebhookSender } from "@posthaste/webhook/sender";
import type { Registry } from "prom-client";
import { openAccess } from "./access/open-access.ts";
import { openAudiences } from "./audiences/open-audiences.ts";
import { openAudit } from "./audit/open-audit.ts";
import type { ControlConfig } from "./config.ts";
import { drawWriter, openConfigStore } from "./config-store/config-store.ts";
import { openDeletions } from "./deletions/open-deletions.ts";
import { deadLetterRoutes } from "./deliveries/dead-letter-routes.ts";
import { deliveryRoutes } from "./deliveries/delivery-routes.ts";
import { DestinationLetters } from "./deliveries/destination-letters.ts";
import { latestRoutes } from "./deliveries/latest-routes.ts";
import { LetterExport } from "./deliveries/letter-export.ts";
import { letterExportRoutes } from "./deliveries/letter-export-routes.ts";
import { VisibleLetters } from "./deliveries/visible-letters.ts";
import { catalogRoutes } from "./destinations/catalog-routes.ts";
import { destinationAudit } from "./destinations/destination-audit.ts";
import { destinationRoutes } from "./destinations/destination-routes.ts";
import { destinationSecretRoutes } from "./destinations/secret-routes.ts";
import { destinationTestRoutes } from "./destinations/test-routes.ts";
import { openDoctor, toldTopics } from "./doctor/open-doctor.ts";
import { openEvents } from "./events/open-events.ts";
import { EXAMPLES } from "./examples/examples.ts";
import { openHealth } from "./health/open-health.ts";
import { createControlMetrics } from "./http/metrics.ts";
import { openPages } from "./http/open-pages.ts";
import { createServer } from "./http/server.ts";
import { liveRoutes } from "./live/live-routes.ts";
import { createOpenFeeds } from "./live/live-topics.ts";
import { openReadModel } from "./read-model/read-model.ts";
import { readModelPath } from "./read-model/read-model-path.ts";
import { openReplays } from "./replays/open-replays.ts";
import { openResends } from "./resends/open-resends.ts";
import { askServices, tablesState } from "./service-readiness.ts";
import { openSourceCalls } from "./sources/open-source-calls.ts";
import { sourceAudit } from "./sources/source-audit.ts";
import { sourceRoutes } from "./sources/source-routes.ts";
import { suppressedKeyCheck } from "./suppressions/suppressed-key.ts";
import { openTestReceivers } from "./test-receivers/open-test-receivers.ts";
import { openUnreadable } from "./unreadable/open-unreadable.ts";

/** A write that waits this long for the brokers makes control unready. */
const STALLED_MS = 5000;

/** A token below this length is taken, with a warning: it can be guessed. */
const SHORT_TOKEN = 16;

export interface ControlOptions {
  readonly config: ControlConfig;
  readonly host: string;
  readonly version: string;
  readonly log: Log;
  readonly registry: Registry;
  /** Ends the process: the tables cannot be read. */
  readonly fail: (reason: Error) => void;
  readonly clock?: Clock;
  /** Of S3 of config-store.ts; drawn at random when left out. */
  readonly writer?: number;
}

export interface Control {
  /** Where the API is. */
  readonly url: string;
  /** Resolves when the tables are read: from then on `/v1` is served. */
  readonly caughtUp: Promise<void>;
  readonly readiness: () => Promise<Readiness>;
  readonly stop: () => Promise<void>;
}

const SYSTEM_CLOCK: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

/** Resolves when the API listens; it answers 503 until the tables are read. */
export async function startControl({
  config,
  host,
  version,
  log,
  registry,
  fail,
  clock = SYSTEM_CLOCK,
  writer = drawWriter(Math.random()),
}: ControlOptions): Promise<Control> {
  const names = createTopicNames(config.POSTHASTE_TOPIC_PREFIX);
  const { POSTHASTE_EXTRA_CA: caPath, POSTHASTE_ADMIN_TOKEN: adminToken } = config;
  if (adminToken.length < SHORT_TOKEN) {
    log.warn({ event: "admin_token_short", length: adminToken.length }, "POSTHASTE_ADMIN_TOKEN can be guessed");
  }
  const sender = createWebhookSender({
    allowNetworks: config.POSTHASTE_ALLOW_NETWORKS,
    denyNetworks: config.POSTHASTE_DENY_NETWORKS,
    ports: config.POSTHASTE_WEBHOOK_PORTS,
    extraCa: caPath === undefined ? undefined : await readFile(caPath, "utf8"),
    registry,
    clock,
  });
  const connection = connectKafka({
    ...kafkaAccess(config),
    clientId: "posthaste-control",
    log,
    metrics: createKafkaMetrics(registry),
  });
  const openCodec = createOpenCodec({ ...registryAccess(config), names, log });
  const [sourceCodec, destinationRecords] = await Promise.all([
    openCodec<SourceRecord>("source"),
    openCodec<DestinationRecord>("destination"),
  ]);
  const producer = await createProducer(connection, {
    name: "control",
    topics: [
      ...[names.sourceConfig, names.destinationConfig, names.events, names.deletions, names.suppressions],
      names.audit,
    ],
  });
  const audit = await openAudit({ connection, openCodec, names, clock, fail });
  const { trail } = audit;
  const store = { producer, clock, log, writer, trail };
  const [sources, destinations] = await Promise.all([
    openConfigStore(connection, {
      ...store,
      topic: names.sourceConfig,
      codec: createSourceCodec(sourceCodec),
      auditedFields: sourceAudit,
    }),
    openConfigStore(connection, {
      ...store,
      topic: names.destinationConfig,
      codec: createDestinationCodec(destinationRecords, createSecretBox(config.POSTHASTE_SECRET_KEYS)),
      auditedFields: destinationAudit,
    }),
  ]);

  const unreadable = await openUnreadable({ connection, names, clock, trail, fail });
  const unknownSchemaMs = config.POSTHASTE_UNKNOWN_SCHEMA_WAIT;
  const readModel = openReadModel({
    ...{ unreadable, unknownSchemaMs, connection, openCodec, names },
    path: await readModelPath(config.POSTHASTE_CONTROL_DATA_DIR, log),
    maxEntries: config.POSTHASTE_DELIVERY_LOG_ENTRIES ?? null,
    keepMs: config.POSTHASTE_DELIVERY_LOG_KEEP,
  });

  /** What it is when it listens, also where any was asked for. */
  let port = config.POSTHASTE_CONTROL_PORT;
  const access = await openAccess({
    ...{ origins: config.POSTHASTE_CONSOLE_ORIGINS, port: () => port },
    ...{ connection, openCodec, names, adminToken, clock, log, writer, trail },
  });
  const metrics = createControlMetrics(registry);
  const audiences = await openAudiences({
    ...{ connection, openCodec, names, sources, clock, writer, trail, unreadable, unknownSchemaMs, fail },
    onEmitted: (identifies) => metrics.audienceIdentifies.inc(identifies),
    onDropped: (records) => metrics.audienceRecordsDropped.inc(records),
    folder: config.POSTHASTE_CONTROL_DATA_DIR ?? null,
    ratePerSecond: config.POSTHASTE_AUDIENCE_RATE,
    leaseMs: config.POSTHASTE_AUDIENCE_LEASE,
  });

  const deletions = await openDeletions({
    ...{ ...store, connection, openCodec, names, sources, destinations, readModel, fail },
    suppressionDays: config.POSTHASTE_SUPPRESSION_DAYS,
  });
  const { suppressed } = deletions;
  const replays = await openReplays({
    alsoTidy: () => health.removeGone(),
    ...{ connection, openCodec, names, destinations, suppressed, readModel, clock, log, writer, trail, fail },
  });
  const sourceCalls = await openSourceCalls({
    ...{ connection, openCodec, names, clock, sources, readModel, suppressed, unknownSchemaMs },
    ingestUrl: config.POSTHASTE_INGEST_URL ?? null,
  });
  const testReceivers = openTestReceivers({
    ...{ isOn: config.POSTHASTE_TEST_RECEIVER, destinations, clock, url: () => `http://${host}:${port}` },
  });
  const letters = new VisibleLetters(readModel, suppressed, replays.past);
  const destinationLetters = new DestinationLetters({ readModel, letters, nowMs: clock.nowMs });
  const health = await openHealth({
    ...{ connection, openCodec, names, destinations, readModel, clock, fail },
    deadLetters: (destinationId) => destinationLetters.count(destinationId),
  });
  const resends = await openResends({
    ...{ connection, openCodec, names, destinations, readModel, letters, suppressed, trail, log },
  });

  let isCaughtUp = false;
  const tables = [access, sources, destinations, audiences, replays, health];
  const caughtUp = Promise.all([...tables, deletions].map((each) => each.caughtUp())).then(() => {
    isCaughtUp = true;
    log.info({ event: "tables_caught_up" });
    deletions.start();
    replays.start();
    health.start();
  });
  caughtUp.catch(fail);

  const readiness = async (): Promise<Readiness> => ({
    tables: isCaughtUp
      ? tablesState([...tables.map(({ state }) => state), ...deletions.states])
      : "reading the configuration",
    brokers:
      producer.oldestPendingMs < STALLED_MS ? connection.brokersState() : `no acknowledgement for ${STALLED_MS} ms`,
    ...(await askServices(config.POSTHASTE_READY_URLS)),
  });

  const routes = [
    ...catalogRoutes(),
    ...sourceRoutes({ sources, clock }),
    ...sourceCalls.routes,
    ...testReceivers.routes,
    ...destinationRoutes({ destinations, sources, clock }),
    ...destinationSecretRoutes({ destinations, sources, clock }),
    ...destinationTestRoutes({ destinations, sender, clock }),
    ...deletions.routes,
    ...(await openEvents({
      ...{ connection, openCodec, names, sources, destinations, readModel, letters, suppressed, clock },
      ...{ audit: audit.journal, isStillAllowed: access.isStillAllowed, keepMs: config.POSTHASTE_DELIVERY_LOG_KEEP },
      logSettings: () => health.heard.book.processes(),
    })),
    ...deliveryRoutes(readModel, suppressed),
    ...latestRoutes({ readModel, suppressed, nowMs: clock.nowMs }),
    ...resends.routes,
    ...deadLetterRoutes(letters),
    ...letterExportRoutes(new LetterExport({ ...replays.reading, suppressed, past: replays.past })),
    ...replays.routes,
    ...health.routes({ readiness, plans: replays.plans, ingestUrl: config.POSTHASTE_INGEST_URL ?? null }),
    ...openDoctor({
      ...{ connection, names, clock, destinations, readiness, heard: health.heard },
      ...{ services: config.POSTHASTE_READY_URLS, registry: registryAccess(config) },
      told: toldTopics(config),
    }),
    ...audiences.routes,
    ...unreadable.routes,
    ...access.routes,
    ...audit.routes,
    ...liveRoutes({
      openFeeds: createOpenFeeds({
        ...{ readModel, letters, audit: audit.live, replays: replays.live, health: health.live },
        isSuppressed: suppressedKeyCheck(suppressed),
        calls: { sources, tail: sourceCalls.tail, suppressed },
      }),
      isStillAllowed: access.isStillAllowed,
      onOpen: (streams) => metrics.liveStreams.set(streams),
      clock,
    }),
  ];
  const server = createServer({
    routes,
    callers: access.callers,
    examples: EXAMPLES,
    version,
    log,
    metrics,
    readiness,
    information: readModel.state,
    pages: await openPages(log),
    isCaughtUp: () => isCaughtUp,
    addPaths: testReceivers.addPaths,
  });
  await server.listen({ host, port: config.POSTHASTE_CONTROL_PORT });
  port = (server.server.address() as AddressInfo).port;
  const url = `http://${host}:${port}`;
  log.info({ event: "control_listening", url });

  return {
    url,
    caughtUp,
    readiness,
    stop: async () => {
      await server.close();
      await replays.close();
      await resends.close();
      await health.close();
      await Promise.all([access.close(), audit.close(), sourceCalls.close()]);
      await Promise.all([readModel.close(), audiences.close(), deletions.close()]);
      await unreadable.close();
      await sender.close();
      await producer.close();
      await Promise.all([sources.close(), destinations.close()]);
      await connection.close();
    },
  };
}
