/** The router's own parts over the model's brokers, put together as services/router/src/app.ts does. */

import type { Codec } from "@posthaste/contracts/codec";
import { originTopicGenerationOf } from "@posthaste/core/delivery/origin";
import type { PosthasteError } from "@posthaste/core/errors";
import type { Event } from "@posthaste/core/event/event";
import { SILENT_LOG } from "@posthaste/core/log";
import { type RoutableDestination, RoutingTable } from "@posthaste/core/routing/routing";
import { createWindowedConsumer } from "@posthaste/kafka/consumer/consumer";
import { createTable } from "@posthaste/kafka/log/table";
import { GroupCommitProducer, type OutgoingRecord, type Producer } from "@posthaste/kafka/producer/producer";
import { createDedupe, type Dedupe } from "@posthaste/router/dedupe";
import { createRouterMetrics } from "@posthaste/router/metrics";
import { RecordRouter, type RecordRouterParts } from "@posthaste/router/route-records";
import { Registry } from "prom-client";
import { nameOf } from "./commit-witness.ts";
import { createCodecs, type Installation, NAMES, TIMING } from "./installation.ts";
import type { ModelProcess, RunningService } from "./model-process.ts";

const EVENTS_TOPIC_GENERATION = 1;
/** Of each partition: a few, so that the window is often full. */
const ROUTER_WINDOW = { maxRecords: 16, maxBytes: 1_000_000 };
/** Some events' deliveries: the windows are held back now and then. */
const MAX_PENDING_BYTES = 2000;
const DEDUPE_LIMITS = { limit: 1000, windowMs: 600_000 };
/** Counts are nobody's business here. */
const METRICS = createRouterMetrics(new Registry());

/** All that the model writes is readable. */
const NOTHING_UNREADABLE: RecordRouterParts["unreadable"] = {
  put: ({ topic, offset }) => Promise.reject(new Error(`offset ${offset} of ${topic} is unreadable`)),
};

/** Resolves when the group was joined. */
export async function startRouterService(owner: ModelProcess, installation: Installation): Promise<RunningService> {
  const { scenario, commits } = installation;
  const { connection } = owner;
  const codecs = createCodecs();
  const onFailure = (reason: Error) => installation.onServiceFailed(owner.id, reason);
  const routing = new RoutingTable();
  const destinations = await createTable<RoutableDestination>(connection, {
    topic: NAMES.destinationConfig,
    prefetch: codecs.destination.prefetch,
    decode: codecs.destination.decode,
    onChange: (id, destination) => routing.set(id, destination),
    onFailure,
  });
  await destinations.caughtUp();
  const { producer, unacknowledged, watchSends } = createWatchedProducer(owner);
  const dedupe = scenario.dedupes ? openDedupe(owner, codecs.event, scenario.seed) : null;
  const router = new RecordRouter({
    context: {
      routing,
      originIncarnation: originTopicGenerationOf(EVENTS_TOPIC_GENERATION, scenario.partitions),
      deliveriesTopic: NAMES.deliveries,
      deliveryPartitions: scenario.partitions,
      deliveryCodec: codecs.delivery,
      configOffset: () => destinations.appliedOffset,
    },
    suppressed: new Set(),
    eventCodec: codecs.event,
    producer,
    dedupe,
    unrouted: { add: () => undefined, close: () => Promise.resolve() },
    unreadable: NOTHING_UNREADABLE,
    metrics: METRICS,
  });
  const consumer = createWindowedConsumer<Event | PosthasteError>(connection, {
    groupId: NAMES.routerGroup,
    topics: [NAMES.events],
    window: ROUTER_WINDOW,
    schemaOf: codecs.event.prefetch,
    take: (record) => router.take(record),
    laneOf: () => null,
    run: (task) => {
      const sent: string[] = [];
      commits.started(owner, NAMES.routerGroup, task, () => {
        const open = sent.filter((name) => unacknowledged.has(name));
        if (open.length === 0) return;
        installation.onViolation(
          `R4 ${owner.id} finished ${nameOf(task.record)} before ${open.length} acknowledgements`,
        );
      });
      watchSends(sent);
      const done = router.run(task);
      watchSends([]);
      return done;
    },
    onRevoked: (windows) => {
      for (const { partition } of windows) dedupe?.forget(partition);
    },
    onFailure,
    timing: TIMING,
    backpressure: producer.backpressure(MAX_PENDING_BYTES),
  });
  await consumer.start();
  return {
    owned: () => consumer.owned().map(({ topic, partition }) => ({ groupId: NAMES.routerGroup, topic, partition })),
    stop: async () => {
      await consumer.stop();
      await Promise.all([producer.close(1000), dedupe?.close(), destinations.close()]);
    },
  };
}

function openDedupe({ connection }: ModelProcess, codec: Codec<Event>, seed: number): Dedupe {
  return createDedupe({
    connection,
    eventsTopic: NAMES.events,
    codec,
    limits: DEDUPE_LIMITS,
    seed: { high: seed, low: 1 },
    log: SILENT_LOG,
  });
}

/** The producer, and the sends of which the process has no acknowledgement yet, each by a name of its own. */
function createWatchedProducer({ connection }: ModelProcess): {
  readonly producer: Producer;
  readonly unacknowledged: ReadonlySet<string>;
  /** The names of records sent from here on go into the list. */
  readonly watchSends: (names: string[]) => void;
} {
  const producer = new GroupCommitProducer({
    name: "deliveries",
    topics: [NAMES.deliveries],
    connection,
    makeClient: () => connection.createBrokerClient(),
    leaders: connection.leadersOf(new Set([NAMES.deliveries])),
  });
  const unacknowledged = new Set<string>();
  let sends = 0;
  let names: string[] = [];
  const send = (records: readonly OutgoingRecord[]): Promise<void> => {
    const name = `send ${sends++}`;
    unacknowledged.add(name);
    names.push(name);
    // Noted before any waiter hears of it.
    return producer.send(records).then(() => {
      unacknowledged.delete(name);
    });
  };
  const watched: Producer = {
    send,
    partitionsOf: (topic) => producer.partitionsOf(topic),
    get pendingBytes() {
      return producer.pendingBytes;
    },
    get oldestPendingMs() {
      return producer.oldestPendingMs;
    },
    stalledMs: (topic) => producer.stalledMs(topic),
    backpressure: (maxPendingBytes) => producer.backpressure(maxPendingBytes),
    close: (flushMs) => producer.close(flushMs),
  };
  const watchSends = (into: string[]) => {
    names = into;
  };
  return { producer: watched, unacknowledged, watchSends };
}
