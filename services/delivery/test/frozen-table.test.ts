import { randomBytes } from "node:crypto";
import { SILENT_LOG } from "@posthaste/core/log";
import { createTestTopics } from "@posthaste/testbed/test-topics";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openRegistryGateway, VALUE_OF_UNKNOWN_SCHEMA } from "@posthaste/testkit/registry-gateway";
import { Registry } from "prom-client";
import { afterEach, expect, it } from "vitest";
import { startDelivery } from "../src/app.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it("is not ready while its table is not read to its end", async () => {
  const topics = await createTestTopics("delivery", { retryDelaysMs: [60_000] });
  const gateway = await openRegistryGateway();
  closing.push(topics.remove, gateway.close);
  const service = await startDelivery({
    kafka: { brokers: kafkaBrokers() },
    schemaRegistry: { url: gateway.url },
    topicPrefix: topics.prefix,
    secretKeys: [{ id: "k1", key: randomBytes(32) }],
    addresses: { allowNetworks: [], denyNetworks: [], ports: [] },
    schedule: { delaysMs: [60_000], windowMs: 60_000 },
    attemptLog: { failures: true, deliveredShare: 1 },
    // Longer than an idle reading is silent, and shorter than the limit that a service has.
    table: { behindLimitMs: 4_000 },
    log: SILENT_LOG,
    registry: new Registry(),
    onFailure: (reason) => {
      throw reason;
    },
  });
  closing.push(service.stop);
  expect(service.readiness().tables).toBe(true);
  // The table waits for a schema, which a registry that is gone cannot give it.
  gateway.refuse();
  const topic = topics.names.destinationConfig;
  await topics.producer.send([{ topic, key: "k", value: VALUE_OF_UNKNOWN_SCHEMA }]);
  await eventually(() => expect(service.readiness().tables).toMatch(`${topic} was last read to its end`), {
    timeoutMs: 30_000,
  });
});
