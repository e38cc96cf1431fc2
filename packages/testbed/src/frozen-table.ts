/**
 * The messages of every service about a table that stands still: its reader waits for a schema, which a registry that
 * is gone cannot give it.
 */
import assert from "node:assert/strict";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { openRegistryGateway, VALUE_OF_UNKNOWN_SCHEMA } from "@posthaste/testkit/registry-gateway";
import { createTestTopics, type TestTopics, type TestTopicsOptions } from "./test-topics.ts";

/** The options with which every service is started; a failure of it is an uncaught error. */
export interface CommonOptions {
  readonly kafka: { readonly brokers: readonly string[] };
  readonly schemaRegistry: { readonly url: string };
  readonly topicPrefix: string;
  readonly log: Log;
  readonly onFailure: (reason: Error) => void;
}

export interface FrozenTableCheck {
  /** Names the test's topics. */
  readonly service: string;
  readonly topics?: TestTopicsOptions;
  /** The topic of the service's table. */
  readonly topicOf: (names: TestTopics["names"]) => string;
  readonly start: (options: CommonOptions) => Promise<{
    readonly readiness: () => Readonly<Record<string, true | string>>;
    readonly stop: () => Promise<unknown>;
  }>;
}

/** Rejects unless the service is ready by its table, and then says that the table was last read to its end before. */
export async function checkFrozenTable({ service: name, topics: made, topicOf, start }: FrozenTableCheck) {
  const topics = await createTestTopics(name, made);
  const gateway = await openRegistryGateway();
  const service = await start({
    kafka: { brokers: kafkaBrokers() },
    schemaRegistry: { url: gateway.url },
    topicPrefix: topics.prefix,
    log: SILENT_LOG,
    onFailure: (reason) => {
      throw reason;
    },
  });
  try {
    assert.equal(service.readiness()["tables"], true);
    gateway.refuse();
    const topic = topicOf(topics.names);
    await topics.producer.send([{ topic, key: "k", value: VALUE_OF_UNKNOWN_SCHEMA }]);
    await eventually(
      () => assert.match(String(service.readiness()["tables"]), new RegExp(`${topic} was last read to its end`)),
      { timeoutMs: 30_000 },
    );
  } finally {
    await service.stop();
    await gateway.close();
    await topics.remove();
  }
}
