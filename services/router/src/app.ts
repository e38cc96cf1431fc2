/**
 * The router: every event becomes one delivery for each destination that its source and its integrations lead to.
 *
 * How the router keeps the rules R1 to R4 of docs/design.md:
 * - R1: it sends by the one producer, which loses nothing (P1 to P4).
 * - R2: it sends the deliveries of an events partition in offset order, and the deliveries of one event in order of
 *   destination id: the consumer runs tasks without a lane in offset order, and the router sends before it waits.
 * - R3: a send that fails for good ends the process, so that nothing later is sent first.
 * - R4: it commits an offset only when everything below it is acknowledged: the window's committable offset.
 */
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import { createTopicNames, type TopicNames } from "@posthaste/contracts/topics";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { originTopicGenerationOf } from "@posthaste/core/delivery/origin";
import type { Event } from "@posthaste/core/event/event";
import type { Log } from "@posthaste/core/log";
import type { RecentIdsLimits } from "@posthaste/core/routing/recent-ids";
import { RoutingTable } from "@posthaste/core/routing/routing";
import type { UnroutedEvents } from "@posthaste/core/routing/unrouted-event";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { createKafkaMetrics } from "@posthaste/kafka/connection/metrics";
import type { ConsumerTiming, WindowLimits } from "@posthaste/kafka/consumer/windowed-consumer";
import { followSuppressedUsers } from "@posthaste/kafka/log/suppressed-users";
import { createProducer, DRAINED_FLUSH_MS } from "@posthaste/kafka/producer/producer";
import { UnreadableRecords } from "@posthaste/kafka/producer/unreadable-records";
import { settleEventsLog } from "@posthaste/kafka/topics/topic-generation";
import type { KafkaAccess, RegistryAccess } from "@posthaste/runtime/connection-settings";
import type { Traces } from "@posthaste/runtime/traces";
import type { Registry } from "prom-client";
import { createDedupe, drawSeed } from "./dedupe.ts";
import { type DestinationsTerms, followDestinations } from "./destinations.ts";
import { createEventConsumer } from "./event-consumer.ts";
import { createRouterMetrics } from "./metrics.ts";
import { RecordRouter } from "./route-records.ts";
import { createUnroutedLog } from "./unrouted.ts";

export interface RouterOptions {
  readonly kafka: KafkaAccess;
  readonly schemaRegistry: RegistryAccess;
  readonly topicPrefix: string;
  readonly log: Log;
  readonly registry: Registry;
  /** Undefined while traces are off. */
  readonly traces: Traces | undefined;
  /** Called when the router cannot go on; the process should end. */
  readonly onFailure: (reason: Error) => void;
  /** `limit` 0 switches the dedupe off. */
  readonly dedupe: RecentIdsLimits;
  readonly window?: WindowLimits;
  readonly timing?: Partial<ConsumerTiming>;
  readonly table?: DestinationsTerms | undefined;
  readonly nowMs?: () => number;
}

export interface Router {
  readonly readiness: () => Readonly<Record<string, true | string>>;
  /**
   * Stops intake, waits for acknowledgements, commits and disconnects: within ten seconds, whether brokers answer or
   * not.
   */
  readonly stop: () => Promise<void>;
}

/**
 * Resolves when the tables of destinations and of suppressed users were read to their ends and the group was joined; no
 * event is read before.
 */
export async function startRouter(options: RouterOptions): Promise<Router> {
  const { log, registry, nowMs = Date.now, onFailure, window, timing, table: terms } = options;
  const names = createTopicNames(options.topicPrefix);
  const metrics = createRouterMetrics(registry);
  const kafkaMetrics = createKafkaMetrics(registry);
  const connection = connectKafka({ ...options.kafka, clientId: "posthaste-router", log, metrics: kafkaMetrics });
  const codecs = await openCodecs(options, names);
  const routing = new RoutingTable();
  const followed = { topic: names.destinationConfig, codec: codecs.destination, routing, onFailure, terms };
  const destinations = await followDestinations(connection, followed);
  const suppressed = await followSuppressedUsers(connection, { topic: names.suppressions, onFailure });
  await suppressed.caughtUp();
  const eventsLog = await settleEventsLog(connection, names);
  const producer = await createProducer(connection, { name: "deliveries", topics: [names.deliveries] });
  // Read once: when the topic grows, each router uses its new partitions from its next start, under a topic generation
  // of its own (`originTopicGenerationOf`).
  const deliveryPartitions = producer.partitionsOf(names.deliveries) ?? 1;
  // This producer is a second one, so that no delivery waits behind entries that nobody waits for.
  const background = await createProducer(connection, { name: "unrouted", topics: [names.unrouted, names.unreadable] });
  const onDropped = (events: number) => metrics.unroutedDropped.inc(events);
  const unroutedTo = { producer: background, topic: names.unrouted, codec: codecs.unrouted };
  const unrouted = createUnroutedLog({ ...unroutedTo, nowMs, log, onDropped });
  const dedupeOptions = { connection, eventsTopic: names.events, codec: codecs.event, limits: options.dedupe, log };
  const dedupe = options.dedupe.limit === 0 ? null : createDedupe({ ...dedupeOptions, seed: drawSeed() });
  const context = {
    routing,
    originIncarnation: originTopicGenerationOf(eventsLog.topicGeneration, deliveryPartitions),
    deliveriesTopic: names.deliveries,
    deliveryPartitions,
    deliveryCodec: codecs.delivery,
    configOffset: () => destinations.appliedOffset,
  };
  const routed = { context, suppressed, eventCodec: codecs.event, producer, dedupe, unrouted };
  const quarantined = { producer: background, topic: names.unreadable, from: [names.events], by: "router", nowMs };
  const unreadable = new UnreadableRecords({ connection, ...quarantined });
  const router = new RecordRouter({ ...routed, unreadable, metrics, traces: options.traces });
  const source = { groupId: names.routerGroup, topic: names.events, topicId: eventsLog.topicId };
  const parts = { codec: codecs.event, router, producer, dedupe };
  const consumer = createEventConsumer(connection, { ...source, ...parts, onFailure, window, timing });
  await consumer.start();
  return {
    readiness: () => ({
      brokers: connection.brokersState(),
      tables: destinations.state === true ? suppressed.state : destinations.state,
      group: consumer.isReady || "joining the group",
    }),
    stop: async () => {
      await consumer.stop();
      // All are closed at once, `unrouted` first: it gives its entries to its producer, which writes them before it
      // closes.
      await Promise.all([
        unrouted.close(),
        background.close(DRAINED_FLUSH_MS),
        producer.close(DRAINED_FLUSH_MS),
        dedupe?.close(),
        destinations.close(),
        suppressed.close(),
      ]);
      await connection.close();
    },
  };
}

async function openCodecs({ schemaRegistry, log }: RouterOptions, names: TopicNames) {
  const openCodec = createOpenCodec({ ...schemaRegistry, names, log });
  const [event, delivery, unrouted, destination] = await Promise.all([
    openCodec<Event>("event"),
    openCodec<Delivery>("delivery"),
    openCodec<UnroutedEvents>("unrouted-events"),
    openCodec<DestinationRecord>("destination"),
  ]);
  return { event, delivery, unrouted, destination };
}
