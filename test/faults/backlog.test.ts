/**
 * A backlog of events that become many deliveries each, as after an outage: the router holds no more than it may, and
 * writes every delivery once, in the order of its events (R2).
 *
 * In `npm test` one backlog, judged by the bytes that wait for the brokers; with POSTHASTE_LONG_FAULTS (`npm run
 * test:faults -- backlog`) up to 1.2 million deliveries of 1 KB. The router's resident memory is printed and not
 * judged.
 */
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { OriginCheckpoint } from "@posthaste/core/delivery/origin";
import type { Event } from "@posthaste/core/event/event";
import { eventKey } from "@posthaste/core/routing/partition-key";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { testDestinationRecord } from "@posthaste/testbed/test-destination";
import { testEvent } from "@posthaste/testbed/test-event";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { afterAll, expect, it } from "vitest";
import { processRssBytes } from "../load/figures/process-cpu.ts";
import { startServiceProcess } from "../load/setup/service-process.ts";
import { isLong } from "./form.ts";
import { pause } from "./pause.ts";
import { printWithLoad, toTable } from "./table.ts";

interface Backlog {
  readonly destinations: number;
  readonly events: number;
}

const BACKLOGS: readonly Backlog[] = isLong
  ? [
      { destinations: 1000, events: 100 },
      { destinations: 1000, events: 1000 },
      { destinations: 100, events: 12_000 },
      { destinations: 20, events: 12_000 },
      { destinations: 1, events: 200_000 },
    ]
  : [{ destinations: 200, events: 300 }];

/** `MAX_PENDING_BYTES` of services/router. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;
/** One delivery of an event of 1 KB. */
const DELIVERY_BYTES = 1400;
const PARTITIONS = 6;
const USERS = 1000;
const SAMPLE_MS = 50;
const STALLED_MS = 120_000;
/** So many records are given to the brokers at once. */
const WRITE_RECORDS = 2000;
const PROPERTIES = JSON.stringify({ padding: "x".repeat(900) });
const MB = 1_000_000;

const rows: (readonly (string | number)[])[] = [];

afterAll(() => {
  const head = ["destinations", "events", "deliveries", "most pending MB", "most resident MB", "seconds"];
  printWithLoad(toTable(head, rows));
});

it.each(BACKLOGS)(
  "$events events for $destinations destinations wait: all are written once and in order, few wait for the brokers",
  async (backlog) => {
    const topics = await createTestTopics("backlog", { partitions: PARTITIONS });
    try {
      await write(topics, backlog);
      const deliveries = backlog.destinations * backlog.events;
      const seen = await route(topics, deliveries);
      rows.push([
        backlog.destinations,
        backlog.events,
        deliveries,
        (seen.pendingBytes / MB).toFixed(1),
        (seen.residentBytes / MB).toFixed(0),
        seen.seconds.toFixed(0),
      ]);
      expect(seen.written).toBe(deliveries);
      // The event that was taken in last is held whole, however many destinations it has.
      expect(seen.pendingBytes).toBeLessThan(MAX_PENDING_BYTES + DELIVERY_BYTES * backlog.destinations);
      expect(seen.pendingBytes).toBeGreaterThan(0);
      await expectInOrder(topics, deliveries);
    } finally {
      await topics.remove();
    }
  },
  isLong ? 1_200_000 : 180_000,
);

async function write({ names, openCodec, producer }: TestTopics, { destinations, events }: Backlog): Promise<void> {
  const destinationCodec = await openCodec<DestinationRecord>("destination");
  const eventCodec = await openCodec<Event>("event");
  await producer.send(
    Array.from({ length: destinations }, (_, index) => {
      const id = `destination-${index}`;
      return {
        topic: names.destinationConfig,
        key: id,
        value: destinationCodec.encode(testDestinationRecord(id, { sourceIds: ["source"] })),
        headers: { [REVISION_HEADER]: "1" },
      };
    }),
  );
  for (let written = 0; written < events; written += WRITE_RECORDS) {
    const records = Array.from({ length: Math.min(WRITE_RECORDS, events - written) }, (_, index) => {
      const event = eventOf(written + index);
      return { topic: names.events, key: eventKey("source", event), value: eventCodec.encode(event) };
    });
    await producer.send(records);
  }
}

interface Routed {
  readonly written: number;
  readonly pendingBytes: number;
  readonly residentBytes: number;
  readonly seconds: number;
}

/** Starts a router over the backlog and watches it until all is written, or nothing comes any more. */
async function route({ prefix, names, connection }: TestTopics, deliveries: number): Promise<Routed> {
  const router = await startServiceProcess("router", {
    KAFKA_BROKERS: kafkaBrokers().join(","),
    SCHEMA_REGISTRY_URL: schemaRegistryUrl(),
    POSTHASTE_TOPIC_PREFIX: prefix,
    NODE_ENV: "production",
  });
  const startedMs = performance.now();
  let [written, pendingBytes, residentBytes, changedMs] = [0, 0, 0, startedMs];
  try {
    while (written < deliveries && performance.now() - changedMs < STALLED_MS) {
      await pause(SAMPLE_MS);
      pendingBytes = Math.max(
        pendingBytes,
        await router.metric('posthaste_producer_pending_bytes{class="deliveries"}'),
      );
      residentBytes = Math.max(residentBytes, processRssBytes(router.pid));
      const ends = (await topicOffsets(connection, names.deliveries)).map(({ end }) => end);
      const now = ends.reduce((sum, end) => sum + end, 0);
      if (now > written) changedMs = performance.now();
      written = now;
    }
    return { written, pendingBytes, residentBytes, seconds: (performance.now() - startedMs) / 1000 };
  } finally {
    await router.stop();
  }
}

/**
 * D2, R2: whoever reads a deliveries partition sees no origin twice or late, so nothing of it is taken for a repeat.
 */
async function expectInOrder({ names, follow }: TestTopics, deliveries: number): Promise<void> {
  const checkpoints = Array.from({ length: PARTITIONS }, () => new OriginCheckpoint());
  let [read, repeats] = [0, 0];
  const done = Promise.withResolvers<void>();
  await follow<Delivery>(names.deliveries, (delivery, { partition }) => {
    const checkpoint = checkpoints[partition];
    if (checkpoint?.isRepeat(delivery)) repeats += 1;
    checkpoint?.note(delivery);
    read += 1;
    if (read === deliveries) done.resolve();
  });
  await done.promise;
  expect(repeats).toBe(0);
}

function eventOf(index: number): Event {
  return testEvent(`message-${index}`, {
    sourceId: "source",
    userId: `user-${index % USERS}`,
    propertiesJson: PROPERTIES,
  });
}
