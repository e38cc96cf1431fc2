/**
 * npm run bench:router -- [--short]: events a second and CPU of one router process over events that stand in the topic,
 * each for one destination. Measured in the middle of a run, when its code is compiled. Needs Linux's `/proc`.
 */
import { randomBytes } from "node:crypto";
import { createDestinationCodec, type DestinationRecord } from "@posthaste/contracts/destination-codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { createSecretBox } from "@posthaste/contracts/secret-box";
import type { Event } from "@posthaste/core/event/event";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { testDestination } from "@posthaste/testbed/test-destination";
import { testEvent } from "@posthaste/testbed/test-event";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { setUpForBenchmark } from "@posthaste/tooling/kafka-global-setup";
import { processCpuMs } from "./figures/process-cpu.ts";
import { median } from "./figures/statistics.ts";
import { startServiceProcess } from "./setup/service-process.ts";

const PARTITIONS = 6;
const USERS = 10_000;
const BATCH = 2000;
const FROM = 0.4;
const TO = 0.95;
const SAMPLE_MS = 20;
const PROPERTIES = JSON.stringify({ padding: "x".repeat(860) });

const short = process.argv.includes("--short");
const rounds = short ? 1 : 5;
const count = short ? 100_000 : 300_000;

const stop = await setUpForBenchmark();
try {
  const costs: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const { perSecond, cpuUs } = await measureRouter();
    costs.push(cpuUs);
    console.log(`round ${round}: ${perSecond.toFixed(0)} events a second, ${cpuUs.toFixed(1)} us of CPU an event`);
  }
  console.log(`median: ${median(costs).toFixed(1)} us of CPU an event`);
} finally {
  await stop?.();
}

async function measureRouter(): Promise<{ readonly perSecond: number; readonly cpuUs: number }> {
  const topics = await createTestTopics("load", { partitions: PARTITIONS });
  try {
    await configure(topics);
    await writeEvents(topics);
    const router = await startServiceProcess("router", {
      KAFKA_BROKERS: kafkaBrokers().join(","),
      SCHEMA_REGISTRY_URL: schemaRegistryUrl(),
      POSTHASTE_TOPIC_PREFIX: topics.prefix,
    });
    try {
      const samples: { atMs: number; cpuMs: number; done: number }[] = [];
      let done = 0;
      while (done < count * TO) {
        await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
        const ends = await topicOffsets(topics.connection, topics.names.deliveries);
        done = ends.reduce((sum, { end }) => sum + end, 0);
        samples.push({ atMs: performance.now(), cpuMs: processCpuMs(router.pid), done });
      }
      const first = samples.find((sample) => sample.done >= count * FROM);
      const last = samples.at(-1);
      if (first === undefined || last === undefined || last === first) throw new Error(`too few events: ${count}`);
      const events = last.done - first.done;
      return {
        perSecond: (events * 1000) / (last.atMs - first.atMs),
        cpuUs: ((last.cpuMs - first.cpuMs) * 1000) / events,
      };
    } finally {
      await router.stop();
    }
  } finally {
    await topics.remove();
  }
}

async function configure({ openCodec, producer, names }: TestTopics): Promise<void> {
  const box = createSecretBox([{ id: "load", key: randomBytes(32) }]);
  const codec = createDestinationCodec(await openCodec<DestinationRecord>("destination"), box);
  const destination = testDestination("healthy", { urls: [{ url: "http://127.0.0.1:9/", headers: {} }] });
  const headers = { [REVISION_HEADER]: "1" };
  await producer.send([{ topic: names.destinationConfig, key: "healthy", value: codec.encode(destination), headers }]);
}

async function writeEvents({ openCodec, producer, names }: TestTopics): Promise<void> {
  const codec = await openCodec<Event>("event");
  const receivedAtMs = Date.now();
  for (let first = 0; first < count; first += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => {
      const userId = `user-${(first + index) % USERS}`;
      return testEvent(`m-${first + index}`, { userId, receivedAtMs, propertiesJson: PROPERTIES });
    });
    await producer.send(
      events.map((event) => ({
        topic: names.events,
        key: `${event.sourceId}:${event.userId}`,
        value: codec.encode(event),
      })),
    );
  }
}
