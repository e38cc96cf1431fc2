/**
 * The base of the measurements of ingest: topics of their own, a source, the service and the bare server as processes.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { Source } from "@posthaste/core/config/source";
import type { KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import type { Producer } from "@posthaste/kafka/producer/producer";
import { nodeFlagsOf } from "@posthaste/local-stack/services";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { ATTACKER_KEY } from "./attacks.ts";

/** `POSTHASTE_BENCH_INGEST` names the `main.ts` of another clone instead, to compare with. */
const SERVICE =
  process.env["POSTHASTE_BENCH_INGEST"] ??
  fileURLToPath(new URL("../../../services/ingest/src/main.ts", import.meta.url));
const BARE = fileURLToPath(new URL("./bare-server.ts", import.meta.url));
const WRITE_KEY = "wk-bench";

const headersOf = (writeKey: string) => ({
  Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString("base64")}`,
  "Content-Type": "application/json",
});

export const HEADERS = headersOf(WRITE_KEY);

/** Of the second source. */
export const NEIGHBOUR_HEADERS = headersOf(ATTACKER_KEY);

/** A server process of the benchmark. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface IngestServer extends Server {
  readonly metricsUrl: string;
}

export interface IngestBench {
  readonly names: TopicNames;
  /** A producer of the bench's own, for the bare round trip. */
  readonly producer: Producer;
  /** A setting that is undefined is left to its default. */
  startIngest(settings?: Readonly<Record<string, string | undefined>>): Promise<IngestServer>;
  startBare(): Promise<Server>;
  /** Records in the topic of events. */
  eventCount(): Promise<number>;
  close(): Promise<void>;
}

export async function createIngestBench(): Promise<IngestBench> {
  const topics = await createTestTopics("bench-ingest", { partitions: 6 });
  const { prefix, names, connection, producer } = topics;
  await saveSource(topics, "src-bench", WRITE_KEY);
  await saveSource(topics, "src-attacker", ATTACKER_KEY);
  return {
    names,
    producer,
    startBare: async () => {
      const child = spawn(process.execPath, [BARE], { stdio: ["pipe", "pipe", "inherit"] });
      const [port] = await once(createInterface({ input: child.stdout }), "line");
      return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => stopProcess(child) };
    },
    startIngest: (settings = {}) => startIngest(names, { POSTHASTE_TOPIC_PREFIX: prefix, ...settings }),
    eventCount: () => countRecords(connection, names.events),
    close: topics.remove,
  };
}

async function startIngest(
  names: TopicNames,
  settings: Readonly<Record<string, string | undefined>>,
): Promise<IngestServer> {
  const env = {
    ...process.env,
    KAFKA_BROKERS: kafkaBrokers().join(","),
    SCHEMA_REGISTRY_URL: schemaRegistryUrl(),
    POSTHASTE_INGEST_PORT: "0",
    POSTHASTE_STOP_ON_STDIN_CLOSE: "true",
    POSTHASTE_SOURCE_CALLS_PER_SECOND: "10000000",
    POSTHASTE_SOURCE_BYTES_PER_SECOND: "10000000000",
    ...settings,
  };
  const child = spawn(process.execPath, [...nodeFlagsOf("ingest"), SERVICE], {
    stdio: ["pipe", "inherit", "pipe"],
    env,
  });
  const said = new Map<string, Readonly<Record<string, unknown>>>();
  for await (const line of createInterface({ input: child.stderr })) {
    if (!line.startsWith("{")) throw new Error(`ingest over ${names.events} does not start: ${line}`);
    const entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
    said.set(String(entry["event"]), entry);
    if (entry["event"] === "service_started") break;
  }
  // Its log is of no more interest, but a full pipe would stop it.
  child.stderr.resume();
  return {
    url: String(said.get("ingest_listening")?.["url"]),
    metricsUrl: `${said.get("service_starting")?.["admin"]}/metrics`,
    pid: child.pid ?? 0,
    stop: () => stopProcess(child),
  };
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.stdin?.end();
  await exited;
}

async function saveSource({ producer, names, openCodec }: TestTopics, id: string, key: string): Promise<void> {
  const codec = await openCodec<Source>("source");
  const source: Source = {
    id,
    revision: 1,
    name: "Bench",
    kind: "server",
    enabled: true,
    writeKeys: [{ key, expiresAtMs: null }],
    createdAtMs: Date.now(),
    updatedAtMs: Date.now(),
  };
  const record = { topic: names.sourceConfig, key: source.id, value: codec.encode(source), headers: { revision: "1" } };
  await producer.send([record]);
}

async function countRecords(connection: KafkaConnection, topic: string): Promise<number> {
  const offsets = await topicOffsets(connection, topic);
  return offsets.reduce((sum, { start, end }) => sum + end - start, 0);
}
