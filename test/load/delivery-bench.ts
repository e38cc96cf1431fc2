/**
 * One delivery process over topics of its own, for the benchmarks: the destinations and deliveries that it finds, and
 * what it costs. Everything is real but the router: the records are written here, with origins as the router gives them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createDestinationCodec, type DestinationRecord } from "@posthaste/contracts/destination-codec";
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { createSecretBox } from "@posthaste/contracts/secret-box";
import { createTopicNames, type TopicNames, topicCatalogue } from "@posthaste/contracts/topics";
import type { Delivery } from "@posthaste/core/delivery";
import type { Destination } from "@posthaste/core/destination";
import { SILENT_LOG } from "@posthaste/core/log";
import { connectKafka } from "@posthaste/kafka/connect";
import { createProducer, type OutgoingRecord } from "@posthaste/kafka/producer";
import { createOpenCodec } from "@posthaste/kafka/registry";
import { applyTopics } from "@posthaste/kafka/topic-admin";
import { findFreePorts } from "@posthaste/local-stack/ports";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { eventually } from "@posthaste/testkit/eventually";
import { deleteTopics, uniqueName } from "@posthaste/testkit/topics";

const PARTITIONS = 6;
const RETRY_DELAYS_MS = [10_000, 30_000, 60_000, 300_000];
const USERS = 10_000;
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

const DELIVERY_MAIN = fileURLToPath(new URL("../../services/delivery/src/main.ts", import.meta.url));

export interface DeliveryBench {
  readonly names: TopicNames;
  /** Writes destinations with one URL each. */
  readonly configure: (urls: Readonly<Record<string, string>>) => Promise<void>;
  /** Writes `count` deliveries to these destinations in turn; resolves when the brokers have them. `stamped`: message ids say when. */
  readonly write: (destinationIds: readonly string[], count: number, stamped?: boolean) => Promise<void>;
  /** Starts the process; resolves when it is ready. */
  readonly start: (settings: Readonly<Record<string, string>>) => Promise<DeliveryProcess>;
  readonly close: () => Promise<void>;
}

export interface DeliveryProcess {
  readonly pid: number;
  /** One sample of its metrics page, by the text before the value; 0 when it is not there. */
  readonly metric: (sample: string) => Promise<number>;
  readonly stop: () => Promise<void>;
}

export async function createDeliveryBench(): Promise<DeliveryBench> {
  const prefix = uniqueName("load");
  const names = createTopicNames(prefix);
  const secretKey = { id: "load", key: randomBytes(32) };
  const connection = connectKafka({ brokers: kafkaBrokers(), clientId: "load", log: SILENT_LOG });
  await applyTopics(connection, topicCatalogue({ names, partitions: PARTITIONS, retryDelaysMs: RETRY_DELAYS_MS }), {
    names,
    replicationFactor: 1,
    minInsyncReplicas: 1,
  });
  const openCodec = createOpenCodec({ url: schemaRegistryUrl(), names, log: SILENT_LOG });
  const deliveryCodec = await openCodec<Delivery>("delivery");
  const destinationCodec = createDestinationCodec(
    await openCodec<DestinationRecord>("destination"),
    createSecretBox([secretKey]),
  );
  const producer = await createProducer(connection, {
    name: "load",
    topics: [names.deliveries, names.destinationConfig],
  });
  const running: ChildProcess[] = [];
  let configOffset = -1;
  let origins = 0;

  const toRecord = (destinationId: string, stamped: boolean): OutgoingRecord => {
    origins += 1;
    const delivery: Delivery = {
      messageId: stamped ? `m-${origins}@${performance.timeOrigin + performance.now()}` : `m-${origins}`,
      sourceId: "source",
      destinationId,
      type: "track",
      receivedAtMs: Date.now(),
      configOffset,
      originLogId: 1,
      originPartition: 0,
      originOffset: origins,
      body: BODY,
    };
    return {
      topic: names.deliveries,
      key: `${destinationId}:user-${origins % USERS}`,
      value: deliveryCodec.encode(delivery),
    };
  };

  return {
    names,
    configure: async (urls) => {
      const records = Object.entries(urls).map(([id, url]) => ({
        topic: names.destinationConfig,
        key: id,
        value: destinationCodec.encode(destination(id, url)),
        headers: { [REVISION_HEADER]: "1" },
      }));
      await producer.send(records);
      configOffset += records.length;
    },
    write: async (destinationIds, count, stamped = false) => {
      let written = 0;
      while (written < count) {
        const size = Math.min(2000, count - written);
        const start = written;
        await producer.send(
          Array.from({ length: size }, (_, index) =>
            toRecord(destinationIds[(start + index) % destinationIds.length] ?? "", stamped),
          ),
        );
        written += size;
      }
    },
    start: async (settings) => {
      const [adminPort = 0] = await findFreePorts(1);
      const child = spawn(process.execPath, ["--disable-warning=TimeoutNegativeWarning", DELIVERY_MAIN], {
        stdio: ["pipe", "ignore", "inherit"],
        env: {
          ...process.env,
          KAFKA_BROKERS: kafkaBrokers().join(","),
          SCHEMA_REGISTRY_URL: schemaRegistryUrl(),
          POSTHASTE_TOPIC_PREFIX: prefix,
          POSTHASTE_SECRET_KEYS: `${secretKey.id}:${secretKey.key.toString("base64")}`,
          POSTHASTE_ALLOW_NETWORKS: "127.0.0.0/8",
          POSTHASTE_RETRY_SCHEDULE: RETRY_DELAYS_MS.map((delayMs) => `${delayMs}ms`).join(","),
          POSTHASTE_ADMIN_PORT: String(adminPort),
          POSTHASTE_LOG_LEVEL: "error",
          POSTHASTE_STOP_ON_STDIN_CLOSE: "true",
          ...settings,
        },
      });
      running.push(child);
      const url = `http://127.0.0.1:${adminPort}`;
      await eventually(
        async () => {
          if (!(await fetch(`${url}/readyz`)).ok) throw new Error("delivery is not ready");
        },
        { timeoutMs: 30_000 },
      );
      return {
        pid: child.pid ?? 0,
        metric: async (sample) => {
          const page = await (await fetch(`${url}/metrics`)).text();
          const line = page.split("\n").find((each) => each.startsWith(`${sample} `));
          return line === undefined ? 0 : Number(line.slice(sample.length + 1));
        },
        stop: () => end(child),
      };
    },
    close: async () => {
      await Promise.all(running.map(end));
      await producer.close();
      await connection.close();
      await deleteTopics(prefix);
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.stdin?.end();
  await exited;
}

function destination(id: string, url: string): Destination {
  return {
    id,
    revision: 1,
    type: "Webhooks",
    name: id,
    sourceIds: ["source"],
    enabled: true,
    settle: "any",
    rateLimitPerSecond: null,
    standardWebhooks: false,
    secrets: { active: "a shared secret of some length", next: null, previous: null },
    urls: [{ url, headers: {} }],
    createdAtMs: 0,
    updatedAtMs: 0,
    missingKeyIds: null,
  };
}
