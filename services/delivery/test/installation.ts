/** Topics of a test's own on the real broker, delivery's records there, and delivery in this process. */
import { randomBytes } from "node:crypto";
import { createDestinationCodec, type DestinationRecord } from "@posthaste/contracts/destination-codec";
import { decodeProgress, REVISION_HEADER, republishedAtMs } from "@posthaste/contracts/headers";
import { createSecretBox, type SecretKey } from "@posthaste/contracts/secret-box";
import type { SourceRecord } from "@posthaste/contracts/source-codec";
import { retryTopicName, type TopicNames } from "@posthaste/contracts/topics";
import type { Destination } from "@posthaste/core/config/destination";
import type { AttemptBatch, AttemptRecord } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { Delivery, DeliveryProgress } from "@posthaste/core/delivery/delivery";
import type { HealthRecord } from "@posthaste/core/health/health-record";
import { SILENT_LOG } from "@posthaste/core/log";
import { STRAY_SOURCE } from "@posthaste/testbed/stray-source";
import { testDestination } from "@posthaste/testbed/test-destination";
import { createTestTopics } from "@posthaste/testbed/test-topics";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { Registry } from "prom-client";
import { type DeliveryOptions, type DeliveryService, startDelivery } from "../src/app.ts";

/** A record in a retry topic. */
export interface Waiting extends DeliveryProgress {
  readonly topic: string;
  readonly messageId: string;
  readonly republishedAtMs: number | null;
}

export interface Installation {
  readonly names: TopicNames;
  readonly secretKey: SecretKey;
  readonly deadLetters: readonly DeadLetter[];
  /** The headers of each of them, as text. */
  readonly deadLetterHeaders: readonly Readonly<Record<string, string>>[];
  readonly attempts: readonly AttemptRecord[];
  /** Everything that was ever written to a retry topic. */
  readonly waiting: readonly Waiting[];
  /** Writes a destination's newest state, undefined to remove it; returns the offset of that. */
  readonly configure: (id: string, change: Partial<Destination> | undefined, keys?: SecretKey) => Promise<number>;
  /** Writes deliveries, each with an origin of its own unless it names one. */
  readonly send: (deliveries: readonly DeliveryDraft[]) => Promise<void>;
  /** Writes bytes to a topic of deliveries. */
  readonly sendRaw: (topic: string, value: Buffer, headers?: Readonly<Record<string, string>>) => Promise<void>;
  readonly encode: (draft: DeliveryDraft) => Buffer;
  /** A value of a schema that the registry knows and that no topic of deliveries is for. */
  readonly strayValue: Buffer;
  /** Hands on delivery's reports on its destinations and on itself; null for a key that is removed. */
  readonly followHealth: (take: (key: string, record: HealthRecord | null) => void) => Promise<void>;
  /** Starts delivery; `remove` stops it, if the test has not. */
  readonly startDelivery: (options?: Partial<DeliveryOptions>) => Promise<TestDelivery>;
  readonly remove: () => Promise<void>;
}

export type DeliveryDraft = Pick<Delivery, "messageId" | "destinationId"> &
  Partial<Delivery> & { readonly user?: string };

/** Deliveries to one destination, named by it and their number, each of a user of its own. */
export function drafts(destinationId: string, count: number, configOffset: number): readonly DeliveryDraft[] {
  return Array.from({ length: count }, (_, index) => ({
    messageId: `${destinationId}-${index}`,
    destinationId,
    configOffset,
  }));
}

export interface TestDelivery extends DeliveryService {
  readonly registry: Registry;
  readonly failures: readonly Error[];
  /** One sample of the metrics page, by the text before its value. */
  readonly metric: (sample: string) => Promise<number>;
}

/** Makes the topics for a schedule and follows delivery's records. */
export async function createInstallation(delaysMs: readonly number[]): Promise<Installation> {
  const topics = await createTestTopics("delivery", { retryDelaysMs: delaysMs });
  const { prefix, names, openCodec, producer, follow } = topics;
  const secretKey: SecretKey = { id: "k1", key: randomBytes(32) };
  const deliveryCodec = await openCodec<Delivery>("delivery");
  const destinationRecords = await openCodec<DestinationRecord>("destination");
  const sourceCodec = await openCodec<SourceRecord>("source");
  const deadLetters: DeadLetter[] = [];
  const deadLetterHeaders: Record<string, string>[] = [];
  const attempts: AttemptRecord[] = [];
  const waiting: Waiting[] = [];
  await follow<DeadLetter>(names.deadLetters, (deadLetter, { headers }) => {
    deadLetters.push(deadLetter);
    deadLetterHeaders.push(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])));
  });
  await follow<AttemptBatch>(names.attempts, (batch) => attempts.push(...batch.attempts));
  for (const topic of new Set(delaysMs.map((delayMs) => retryTopicName(names, delayMs)))) {
    await follow<Delivery>(topic, ({ messageId }, { headers }) =>
      waiting.push({ ...decodeProgress(headers), topic, messageId, republishedAtMs: republishedAtMs(headers) }),
    );
  }
  const running: DeliveryService[] = [];
  let revision = 0;
  let origins = 0;

  const encode = (draft: DeliveryDraft): Buffer => {
    origins += 1;
    const { user: _, ...fields } = draft;
    return deliveryCodec.encode({
      sourceId: "src_1",
      type: "track",
      receivedAtMs: Date.now(),
      configOffset: 0,
      originIncarnation: 1,
      originPartition: 0,
      originOffset: origins,
      body: Buffer.from(`{"type":"track","event":${JSON.stringify(draft.messageId)}}`),
      event: draft.messageId,
      restJson: null,
      ...fields,
    });
  };

  return {
    names,
    secretKey,
    deadLetters,
    deadLetterHeaders,
    attempts,
    waiting,
    encode,
    strayValue: sourceCodec.encode(STRAY_SOURCE),
    configure: async (id, change, key = secretKey) => {
      revision += 1;
      const codec = createDestinationCodec(destinationRecords, createSecretBox([key]));
      const value = change === undefined ? null : codec.encode(testDestination(id, { revision, ...change }));
      await producer.send([
        { topic: names.destinationConfig, key: id, value, headers: { [REVISION_HEADER]: String(revision) } },
      ]);
      return revision - 1;
    },
    send: (deliveries) =>
      producer.send(
        deliveries.map((draft) => ({
          topic: names.deliveries,
          key: `${draft.destinationId}:${draft.user ?? draft.messageId}`,
          value: encode(draft),
        })),
      ),
    sendRaw: (topic, value, headers = {}) => producer.send([{ topic, key: "k", value, headers }]),
    followHealth: (take) => topics.followTable<HealthRecord>(names.destinationHealth, take),
    startDelivery: async (options = {}) => {
      const registry = new Registry();
      const failures: Error[] = [];
      const service = await startDelivery({
        kafka: { brokers: kafkaBrokers() },
        schemaRegistry: { url: schemaRegistryUrl() },
        topicPrefix: prefix,
        secretKeys: [secretKey],
        addresses: { allowNetworks: ["127.0.0.0/8"], denyNetworks: [], ports: [] },
        schedule: { delaysMs, windowMs: 60_000 },
        attemptLog: { failures: true, deliveredShare: 1 },
        log: SILENT_LOG,
        registry,
        traces: undefined,
        onFailure: (reason) => failures.push(reason),
        timing: { stopDrainMs: 500 },
        // The receiver is of this process too, and a busy machine may let it stand for the five seconds of a request.
        senderLimits: { headersTimeoutMs: 60_000 },
        ...options,
      });
      running.push(service);
      const metric = async (sample: string): Promise<number> => {
        const line = (await registry.metrics()).split("\n").find((each) => each.startsWith(`${sample} `));
        return Number(line?.slice(sample.length + 1));
      };
      const delivery: TestDelivery = { ...service, registry, failures, metric };
      await eventually(() => {
        expectReady(delivery);
      });
      return delivery;
    },
    remove: async () => {
      await Promise.all(running.map((service) => service.stop()));
      await topics.remove();
    },
  };
}

function expectReady(service: DeliveryService): void {
  const missing = Object.entries(service.readiness()).filter(([, state]) => state !== true);
  if (missing.length > 0) throw new Error(`not ready: ${JSON.stringify(missing)}`);
}
