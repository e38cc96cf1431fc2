/**
 * One delivery process over topics of its own, for the benchmarks: the destinations and deliveries that it finds, and
 * its cost. Everything is real but the router: the records are written here, with origins as the router gives them.
 */
import { randomBytes } from "node:crypto";
import { createDestinationCodec, type DestinationRecord } from "@posthaste/contracts/destination-codec";
import { encodeProgress, REPUBLISHED_FROM_HEADER, REVISION_HEADER } from "@posthaste/contracts/headers";
import { createSecretBox } from "@posthaste/contracts/secret-box";
import { retryTopicName, type TopicNames } from "@posthaste/contracts/topics";
import { type Delivery, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import { testDestination } from "@posthaste/testbed/test-destination";
import { createTestTopics } from "@posthaste/testbed/test-topics";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { type ServiceProcess, startServiceProcess } from "../setup/service-process.ts";

const PARTITIONS = 6;
const RETRY_DELAYS_MS: readonly number[] = [10_000, 30_000, 60_000, 300_000];
const WINDOW_MS = 4 * 3_600_000;
const USERS = 10_000;
/** Ingest's fields beside a call that says when it was made. */
const REST_JSON = `{"originalTimestamp":"2026-11-21T03:24:17.269Z"}`;
/** A body of 1 KB. */
const BODY = Buffer.from(
  JSON.stringify({
    version: 1,
    type: "track",
    userId: "user",
    event: "Benchmark",
    properties: { padding: "x".repeat(860) },
    timestamp: "2026-01-01T00:00:00.000Z",
    context: {},
  }),
);
export const BODY_BYTES = BODY.length;

export interface DeliveryBenchOptions {
  /** The retry schedule, and so the retry topics. */
  readonly retryDelaysMs?: readonly number[];
}

export interface WriteOptions {
  /** Message ids say when they were written, for the sink. */
  readonly stamped?: boolean;
  /** Into the retry topic of this delay, as a delivery that failed once, and not into the deliveries topic. */
  readonly retryDelayMs?: number;
}

export interface DeliveryBench {
  readonly names: TopicNames;
  /** Writes destinations with one URL each. */
  readonly configure: (urls: Readonly<Record<string, string>>) => Promise<void>;
  /** Writes `count` deliveries to these destinations in turn; resolves when the brokers have them. */
  readonly write: (destinationIds: readonly string[], count: number, options?: WriteOptions) => Promise<void>;
  /** Starts the process; resolves when it is ready. */
  readonly start: (settings: Readonly<Record<string, string>>) => Promise<ServiceProcess>;
  readonly close: () => Promise<void>;
}

function deliveryOf(of: Pick<Delivery, "messageId" | "destinationId" | "configOffset" | "originOffset">): Delivery {
  return {
    ...of,
    sourceId: "source",
    type: "track",
    receivedAtMs: Date.now(),
    originIncarnation: 1,
    originPartition: 0,
    body: BODY,
    event: "Order Completed",
    restJson: REST_JSON,
  };
}

export async function createDeliveryBench({
  retryDelaysMs = RETRY_DELAYS_MS,
}: DeliveryBenchOptions = {}): Promise<DeliveryBench> {
  const topics = await createTestTopics("load", { partitions: PARTITIONS, retryDelaysMs });
  const { prefix, names, openCodec, producer } = topics;
  const secretKey = { id: "load", key: randomBytes(32) };
  const deliveryCodec = await openCodec<Delivery>("delivery");
  const destinationCodec = createDestinationCodec(
    await openCodec<DestinationRecord>("destination"),
    createSecretBox([secretKey]),
  );
  const running: ServiceProcess[] = [];
  let configOffset = -1;
  let origins = 0;

  const toRecord = (destinationId: string, { stamped, retryDelayMs }: WriteOptions): OutgoingRecord => {
    origins += 1;
    const messageId = stamped ? `m-${origins}@${performance.timeOrigin + performance.now()}` : `m-${origins}`;
    const delivery = deliveryOf({ messageId, destinationId, configOffset, originOffset: origins });
    const record = { key: `${destinationId}:user-${origins % USERS}`, value: deliveryCodec.encode(delivery) };
    if (retryDelayMs === undefined) return { topic: names.deliveries, ...record };
    const windowStartMs = Date.now();
    const progress = { ...NO_PROGRESS, attempts: 1, windowStartMs, deadlineMs: windowStartMs + WINDOW_MS };
    const headers = { ...encodeProgress(progress), [REPUBLISHED_FROM_HEADER]: `${names.deliveries}/0/${origins}/0` };
    return { topic: retryTopicName(names, retryDelayMs), ...record, headers };
  };

  return {
    names,
    configure: async (urls) => {
      const records = Object.entries(urls).map(([id, url]) => ({
        topic: names.destinationConfig,
        key: id,
        value: destinationCodec.encode(destinationOf(id, url)),
        headers: { [REVISION_HEADER]: "1" },
      }));
      await producer.send(records);
      configOffset += records.length;
    },
    write: async (destinationIds, count, options = {}) => {
      let written = 0;
      while (written < count) {
        const size = Math.min(2000, count - written);
        const start = written;
        await producer.send(
          Array.from({ length: size }, (_, index) =>
            toRecord(destinationIds[(start + index) % destinationIds.length] ?? "", options),
          ),
        );
        written += size;
      }
    },
    start: async (settings) => {
      const delivery = await startServiceProcess("delivery", {
        KAFKA_BROKERS: kafkaBrokers().join(","),
        SCHEMA_REGISTRY_URL: schemaRegistryUrl(),
        POSTHASTE_TOPIC_PREFIX: prefix,
        POSTHASTE_SECRET_KEYS: `${secretKey.id}:${secretKey.key.toString("base64")}`,
        POSTHASTE_ALLOW_NETWORKS: "127.0.0.0/8",
        POSTHASTE_RETRY_SCHEDULE: retryDelaysMs.map((delayMs) => `${delayMs}ms`).join(","),
        ...settings,
      });
      running.push(delivery);
      return delivery;
    },
    close: async () => {
      await Promise.all(running.map((delivery) => delivery.stop()));
      await topics.remove();
    },
  };
}

const SECRETS = { active: "a shared secret of some length", next: null, previous: null };

function destinationOf(id: string, url: string) {
  return testDestination(id, { sourceIds: ["source"], secrets: SECRETS, urls: [{ url, headers: {} }] });
}
