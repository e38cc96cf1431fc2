/** Topics of a test's own on the real broker, a router's records there, and routers in this process. */
import type { OpenCodec } from "@posthaste/contracts/codec";
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { SourceRecord } from "@posthaste/contracts/source-codec";
import type { TopicNames } from "@posthaste/contracts/topics";
import { decodeUnreadable, type Unreadable } from "@posthaste/contracts/unreadable-headers";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import type { Event } from "@posthaste/core/event/event";
import { SILENT_LOG } from "@posthaste/core/log";
import { eventKey } from "@posthaste/core/routing/partition-key";
import type { UnroutedEvents } from "@posthaste/core/routing/unrouted-event";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { STRAY_SOURCE } from "@posthaste/testbed/stray-source";
import { testDestinationRecord } from "@posthaste/testbed/test-destination";
import { createTestTopics } from "@posthaste/testbed/test-topics";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { Registry } from "prom-client";
import { type Router, type RouterOptions, startRouter } from "../src/app.ts";

export interface ReadDelivery extends Delivery {
  readonly key: string;
  readonly partition: number;
  readonly offset: number;
}

export interface Installation {
  readonly names: TopicNames;
  /** In the order of the log, by partition. */
  readonly deliveries: readonly ReadDelivery[];
  readonly unrouted: readonly UnroutedEvents[];
  /** Writes a destination's newest state; undefined removes it. */
  readonly configure: (id: string, change: Partial<DestinationRecord> | undefined) => Promise<void>;
  readonly send: (events: readonly Event[]) => Promise<void>;
  /** The quarantined records. */
  readonly unreadable: readonly Quarantined[];
  readonly encode: (event: Event) => Buffer;
  readonly openCodec: OpenCodec;
  /** The prefix of the topics' names. */
  readonly prefix: string;
  /** Writes bytes that no schema reads, to the events topic unless another is named. */
  readonly sendRaw: (value: Buffer | null, place?: Partial<OutgoingRecord>) => Promise<void>;
  /** A value of a schema that the registry knows and that no topic of the router's is for. */
  readonly strayValue: Buffer;
  /** Starts a router that `remove` stops, if the test has not. */
  readonly startRouter: (options?: Partial<RouterOptions>) => Promise<TestRouter>;
  readonly remove: () => Promise<void>;
}

export interface Quarantined {
  readonly value: Buffer;
  readonly record: IncomingRecord;
  readonly unreadable: Unreadable | null;
}

export interface TestRouter extends Router {
  readonly registry: Registry;
  readonly failures: readonly Error[];
}

/** Makes the topics and follows the topics that a router writes. */
export async function createInstallation(): Promise<Installation> {
  const topics = await createTestTopics("router");
  const { prefix, names, openCodec, producer, follow } = topics;
  const eventCodec = await openCodec<Event>("event");
  const destinationCodec = await openCodec<DestinationRecord>("destination");
  const sourceCodec = await openCodec<SourceRecord>("source");
  const deliveries: ReadDelivery[] = [];
  const unrouted: UnroutedEvents[] = [];
  await follow<Delivery>(names.deliveries, (delivery, { key, partition, offset }) =>
    deliveries.push({ ...delivery, key: String(key), partition, offset }),
  );
  await follow<UnroutedEvents>(names.unrouted, (events) => unrouted.push(events));
  const unreadable: Quarantined[] = [];
  await follow<Buffer>(names.unreadable, (value, record) =>
    unreadable.push({ value, record, unreadable: decodeUnreadable(record.headers) }),
  );
  const routers: Router[] = [];
  let revision = 0;

  return {
    names,
    deliveries,
    unrouted,
    unreadable,
    encode: eventCodec.encode,
    openCodec,
    prefix,
    configure: (id, change) => {
      revision += 1;
      const value =
        change === undefined ? null : destinationCodec.encode(testDestinationRecord(id, { revision, ...change }));
      const headers = { [REVISION_HEADER]: String(revision) };
      return producer.send([{ topic: names.destinationConfig, key: id, value, headers }]);
    },
    send: (events) =>
      producer.send(
        events.map((event) => ({
          topic: names.events,
          key: eventKey(event.sourceId, event),
          value: eventCodec.encode(event),
        })),
      ),
    sendRaw: (value, place = {}) => producer.send([{ topic: names.events, key: "k", value, ...place }]),
    strayValue: sourceCodec.encode(STRAY_SOURCE),
    startRouter: async (options = {}) => {
      const registry = new Registry();
      const failures: Error[] = [];
      const router = await startRouter({
        kafka: { brokers: kafkaBrokers() },
        schemaRegistry: { url: schemaRegistryUrl() },
        topicPrefix: prefix,
        log: SILENT_LOG,
        registry,
        traces: undefined,
        onFailure: (reason) => failures.push(reason),
        dedupe: { limit: 1000, windowMs: 600_000 },
        ...options,
      });
      routers.push(router);
      return { ...router, registry, failures };
    },
    remove: async () => {
      await Promise.all(routers.map((router) => router.stop()));
      await topics.remove();
    },
  };
}
