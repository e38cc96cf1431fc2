/**
 * Topics of a test's own whose tables can be made to stand still: their service asks a registry that the test cuts off.
 */
import { SILENT_LOG } from "@posthaste/core/log";
import { kafkaBrokers } from "@posthaste/testkit/broker";
import { openRegistryGateway, VALUE_OF_UNKNOWN_SCHEMA } from "@posthaste/testkit/registry-gateway";
import { createTestTopics, type TestTopics, type TestTopicsOptions } from "./test-topics.ts";

export interface FreezableTables {
  readonly names: TestTopics["names"];
  /** What every service is started with; a failure of it is an uncaught error. */
  readonly options: {
    readonly kafka: { readonly brokers: readonly string[] };
    readonly schemaRegistry: { readonly url: string };
    readonly topicPrefix: string;
    readonly log: typeof SILENT_LOG;
    readonly onFailure: (reason: Error) => void;
  };
  /** From here on the table of this topic waits for a schema, which a registry that is gone cannot give it. */
  freeze(topic: string): Promise<void>;
  remove(): Promise<void>;
}

export async function createFreezableTables(subject: string, made: TestTopicsOptions = {}): Promise<FreezableTables> {
  const topics = await createTestTopics(subject, made);
  const gateway = await openRegistryGateway();
  return {
    names: topics.names,
    options: {
      kafka: { brokers: kafkaBrokers() },
      schemaRegistry: { url: gateway.url },
      topicPrefix: topics.prefix,
      log: SILENT_LOG,
      onFailure: (reason) => {
        throw reason;
      },
    },
    freeze: async (topic) => {
      gateway.refuse();
      await topics.producer.send([{ topic, key: "k", value: VALUE_OF_UNKNOWN_SCHEMA }]);
    },
    remove: async () => {
      await gateway.close();
      await topics.remove();
    },
  };
}
