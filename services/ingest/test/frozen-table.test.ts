import { SILENT_LOG } from "@posthaste/core/log";
import { createTestTopics } from "@posthaste/testbed/test-topics";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openRegistryGateway, VALUE_OF_UNKNOWN_SCHEMA } from "@posthaste/testkit/registry-gateway";
import { Registry } from "prom-client";
import { afterEach, expect, it } from "vitest";
import { startIngest } from "../src/app.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

// With the limit that a service has; the other services wait for less.
it("is not ready while its table is not read to its end", async () => {
  const topics = await createTestTopics("ingest");
  const gateway = await openRegistryGateway();
  closing.push(topics.remove, gateway.close);
  const service = await startIngest({
    kafka: { brokers: kafkaBrokers() },
    schemaRegistry: { url: gateway.url },
    topicPrefix: topics.prefix,
    host: "127.0.0.1",
    port: 0,
    trustedProxies: [],
    perSource: { calls: 1, bytes: 1 },
    maxPendingBytes: 1_000_000,
    log: SILENT_LOG,
    registry: new Registry(),
  });
  closing.push(service.stop);
  expect(service.readiness().tables).toBe(true);
  // The table waits for a schema, which a registry that is gone cannot give it.
  gateway.refuse();
  const topic = topics.names.sourceConfig;
  await topics.producer.send([{ topic, key: "k", value: VALUE_OF_UNKNOWN_SCHEMA }]);
  await eventually(() => expect(service.readiness().tables).toMatch(`${topic} was last read to its end`), {
    timeoutMs: 30_000,
  });
});
