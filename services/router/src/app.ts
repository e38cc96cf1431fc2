/**
 * The router: every event becomes one delivery for each destination that its source and its integrations lead to.
 *
 * R1  It sends by the one producer, which loses nothing (P1 to P4).
 * R2  The records of an events partition go out in offset order, those of one event in order of destination id: the
 *     consumer runs tasks of no lane in offset order, and the router sends before it waits.
 * R3  A send that fails for good ends the process; nothing later goes first.
 * R4  An offset is committed only when everything below it is acknowledged: the window's committable offset.
 */
import type { Codec } from "@posthaste/contracts/codec";
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import { createTopicNames } from "@posthaste/contracts/topics";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { originIncarnationOf } from "@posthaste/core/delivery/origin";
import type { Event } from "@posthaste/core/event/event";
import type { Log } from "@posthaste/core/log";
import type { RecentIdsLimits } from "@posthaste/core/routing/recent-ids";
import { type RoutableDestination, RoutingTable } from "@posthaste/core/routing/routing";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka, type KafkaConnection } from "@posthaste/kafka/connection/connect";
import { createKafkaMetrics } from "@posthaste/kafka/connection/metrics";
import { createWindowedConsumer } from "@posthaste/kafka/consumer/consumer";
import type { ConsumerTiming, WindowLimits } from "@posthaste/kafka/consumer/windowed-consumer";
import { createTable, type Table, type TableOptions } from "@posthaste/kafka/log/table";
import { createProducer, DRAINED_FLUSH_MS } from "@posthaste/kafka/producer/producer";
import { settleEventsLog, TOPICS_PROGRAM } from "@posthaste/kafka/topics/incarnation";
import type { KafkaAccess, RegistryAccess } from "@posthaste/runtime/connection-settings";
import type { Registry } from "prom-client";
import { createDedupe, drawSeed } from "./dedupe.ts";
import { createRouterMetrics } from "./metrics.ts";
import { RecordRouter } from "./route-records.ts";
import { createUnroutedLog, type UnroutedEvents } from "./unrouted.ts";

export interface RouterOptions {
  readonly kafka: KafkaAccess;
  readonly schemaRegistry: RegistryAccess;
  readonly topicPrefix: string;
  readonly log: Log;
  readonly registry: Registry;
  /** The router cannot go on; the process should end. */
  readonly onFailure: (reason: Error) => void;
  /** `limit` 0 switches the dedupe off. */
  readonly dedupe: RecentIdsLimits;
  readonly window?: WindowLimits;
  readonly timing?: Partial<ConsumerTiming>;
  /** When the table of destinations counts as not read to its end. */
  readonly table?: Pick<TableOptions<RoutableDestination>, "behindLimitMs"> | undefined;
  readonly nowMs?: () => number;
}

export interface Router {
  readonly readiness: () => Readonly<Record<string, true | string>>;
  /** Stops intake, waits for what was sent, commits, disconnects; within ten seconds, brokers or none. */
  readonly stop: () => Promise<void>;
}

/** Of each partition: enough that the producer's batches are as large as they are useful. */
const DEFAULT_WINDOW: WindowLimits = { maxRecords: 4096, maxBytes: 16 * 1024 * 1024 };

/**
 * Bytes of deliveries that may wait for the brokers before no event is taken in: what an event becomes grows with its
 * destinations, so a bound on events alone bounds nothing. Some full batches for each partition: more wins no
 * throughput.
 */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;

/** Resolves when the destinations are known and the group was joined; no event is taken before that. */
export async function startRouter(options: RouterOptions): Promise<Router> {
  const { log, registry, window = DEFAULT_WINDOW, nowMs = Date.now, onFailure } = options;
  const names = createTopicNames(options.topicPrefix);
  const metrics = createRouterMetrics(registry);
  const connection = connectKafka({
    ...options.kafka,
    clientId: "posthaste-router",
    log,
    metrics: createKafkaMetrics(registry),
  });
  const openCodec = createOpenCodec({ ...options.schemaRegistry, names, log });
  const [eventCodec, deliveryCodec, unroutedCodec, destinationCodec] = await Promise.all([
    openCodec<Event>("event"),
    openCodec<Delivery>("delivery"),
    openCodec<UnroutedEvents>("unrouted-events"),
    openCodec<DestinationRecord>("destination"),
  ]);
  const routing = new RoutingTable();
  const destinations = await followDestinations(connection, {
    topic: names.destinationConfig,
    codec: destinationCodec,
    routing,
    onFailure,
    table: options.table,
  });
  await destinations.caughtUp();

  const eventsLog = await settleEventsLog(connection, names);
  const producer = await createProducer(connection, { name: "deliveries", topics: [names.deliveries] });
  // Read once: a topic that is grown is placed on from the next start, by every router under a topic incarnation of its
  // own.
  const deliveryPartitions = producer.partitionsOf(names.deliveries) ?? 1;
  // Apart, so that no delivery waits behind what nobody waits for.
  const background = await createProducer(connection, { name: "unrouted", topics: [names.unrouted] });
  const unrouted = createUnroutedLog({
    producer: background,
    topic: names.unrouted,
    codec: unroutedCodec,
    nowMs,
    log,
    onDropped: (events) => metrics.unroutedDropped.inc(events),
  });
  const dedupe =
    options.dedupe.limit === 0
      ? null
      : createDedupe({
          connection,
          eventsTopic: names.events,
          codec: eventCodec,
          limits: options.dedupe,
          seed: drawSeed(),
          log,
        });
  const router = new RecordRouter({
    context: {
      routing,
      originIncarnation: originIncarnationOf(eventsLog.incarnation, deliveryPartitions),
      deliveriesTopic: names.deliveries,
      deliveryPartitions,
      deliveryCodec,
      configOffset: () => destinations.appliedOffset,
    },
    eventCodec,
    producer,
    dedupe,
    unrouted,
    metrics,
    log,
  });
  const consumer = createWindowedConsumer<Event | null>(connection, {
    groupId: names.routerGroup,
    topics: [names.events],
    window,
    prefetch: ({ value }) => (value === null ? undefined : eventCodec.prefetch(value)),
    take: (record) => router.take(record),
    laneOf: () => null,
    backpressure: producer.backpressure(MAX_PENDING_BYTES),
    run: (task) => router.run(task),
    onRevoked: (windows) => {
      for (const { partition } of windows) dedupe?.forget(partition);
    },
    onFailure,
    timing: options.timing ?? {},
    topicIds: new Map([[names.events, eventsLog.topicId]]),
    outOfRangeAdvice: OUT_OF_RANGE_ADVICE,
  });
  await consumer.start();

  return {
    readiness: () => ({
      brokers: connection.brokersState(),
      tables: destinations.state,
      group: consumer.isReady || "joining the group",
    }),
    stop: async () => {
      await consumer.stop();
      // In this order within one turn: `unrouted` hands over what waits, its producer sends it and is bounded.
      await Promise.all([
        unrouted.close(),
        background.close(DRAINED_FLUSH_MS),
        producer.close(DRAINED_FLUSH_MS),
        dedupe?.close(),
        destinations.close(),
      ]);
      await connection.close();
    },
  };
}

/** Without a new topic incarnation what is read again would be taken for repeats of what was routed before (D2). */
const OUT_OF_RANGE_ADVICE =
  "stop the routers, set their group's offset with kafka-consumer-groups.sh --reset-offsets, " +
  `run ${TOPICS_PROGRAM} --raise-incarnation, and start them`;

interface FollowDestinationsOptions {
  readonly topic: string;
  readonly codec: Codec<DestinationRecord>;
  readonly routing: RoutingTable;
  readonly onFailure: (reason: Error) => void;
  readonly table: RouterOptions["table"];
}

/** Follows the destinations; of each only what routing needs is kept, and no secret is opened. */
function followDestinations(
  connection: KafkaConnection,
  { topic, codec, routing, onFailure, table }: FollowDestinationsOptions,
): Promise<Table<RoutableDestination>> {
  return createTable(connection, {
    topic,
    onFailure,
    prefetch: codec.prefetch,
    decode: (bytes) => {
      const { id, enabled, sourceIds } = codec.decode(bytes);
      return { id, enabled, sourceIds };
    },
    onChange: (id, destination) => routing.set(id, destination),
    ...table,
  });
}
