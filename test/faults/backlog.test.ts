/**
 * A backlog of events that become many deliveries each, as after an outage: the router holds no more than it may, and
 * writes every delivery in the order of its events (R2), once where nothing was sent again.
 *
 * In `npm test` one backlog, judged by the bytes that wait for the brokers; with POSTHASTE_LONG (`npm run test:long --
 * test/faults/backlog`) up to 1.2 million deliveries of 1 KB. The router's resident memory is printed and not judged.
 */
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { Delivery } from "@posthaste/core/delivery/delivery";
import { OriginCheckpoint } from "@posthaste/core/delivery/origin";
import type { Event } from "@posthaste/core/event/event";
import { eventKey } from "@posthaste/core/routing/partition-key";
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
const PENDING = 'posthaste_producer_pending_bytes{class="deliveries"}';
const SENT_AGAIN = [
  /^posthaste_producer_replaced_total\{class="deliveries"\} [1-9]/m,
  /^posthaste_rebalances_total\{[^}]*\} ([2-9]|\d\d)/m,
];

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
      expect(seen.passed).toBe(deliveries);
      // A repeat stands behind the first: a batch whose answer came too late, or records that a missed member had not
      // committed.
      expect([seen.repeats === 0, seen.isSentAgain]).toContain(true);
      // The event that was taken in last is held whole, however many destinations it has.
      expect(seen.pendingBytes).toBeLessThan(MAX_PENDING_BYTES + DELIVERY_BYTES * backlog.destinations);
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

interface Routed extends Written {
  /** The router says that it sent something twice, or joined its group twice. */
  readonly isSentAgain: boolean;
  readonly pendingBytes: number;
  readonly residentBytes: number;
  readonly seconds: number;
}

/** Starts a router over the backlog and watches it until all is written, or nothing comes any more. */
async function route(topics: TestTopics, deliveries: number): Promise<Routed> {
  const router = await startServiceProcess("router", {
    KAFKA_BROKERS: kafkaBrokers().join(","),
    SCHEMA_REGISTRY_URL: schemaRegistryUrl(),
    POSTHASTE_TOPIC_PREFIX: topics.prefix,
    NODE_ENV: "production",
  });
  const startedMs = performance.now();
  const seen = await followWritten(topics);
  let [passed, pendingBytes, residentBytes, changedMs] = [0, 0, 0, startedMs];
  try {
    while (passed < deliveries && performance.now() - changedMs < STALLED_MS) {
      await pause(SAMPLE_MS);
      pendingBytes = Math.max(pendingBytes, await router.metric(PENDING));
      residentBytes = Math.max(residentBytes, processRssBytes(router.pid));
      if (seen.passed > passed) changedMs = performance.now();
      passed = seen.passed;
    }
    const seconds = (performance.now() - startedMs) / 1000;
    const page = await router.metricsPage();
    expect(page).toContain(`${PENDING} `);
    const isSentAgain = SENT_AGAIN.some((sample) => sample.test(page));
    return { ...seen, isSentAgain, pendingBytes, residentBytes, seconds };
  } finally {
    await router.stop();
  }
}

interface Written {
  /** Deliveries that repeat none before them in their partition (D2): all of them, if each is there in order (R2). */
  passed: number;
  repeats: number;
}

/** Reads the deliveries, as a consumer of them does. */
async function followWritten({ names, follow }: TestTopics): Promise<Readonly<Written>> {
  const checkpoints = Array.from({ length: PARTITIONS }, () => new OriginCheckpoint());
  const seen: Written = { passed: 0, repeats: 0 };
  await follow<Delivery>(names.deliveries, (delivery, { partition }) => {
    const checkpoint = checkpoints[partition];
    if (checkpoint?.isRepeat(delivery)) seen.repeats += 1;
    else seen.passed += 1;
    checkpoint?.note(delivery);
  });
  return seen;
}

function eventOf(index: number): Event {
  return testEvent(`message-${index}`, {
    sourceId: "source",
    userId: `user-${index % USERS}`,
    propertiesJson: PROPERTIES,
  });
}
