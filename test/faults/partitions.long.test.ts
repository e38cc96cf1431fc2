/**
 * Partitions that cannot be written, in a cluster of three that is otherwise well: one whose only replica is down, and
 * one that has fewer replicas than it must. Rule P1: they hold up their own records, and no other partition, no new
 * client, no group.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { SILENT_LOG } from "@posthaste/core/log";
import { connectKafka, type KafkaConnection } from "@posthaste/kafka/connection/connect";
import { topicOffsets } from "@posthaste/kafka/connection/topic-offsets";
import { createWindowedConsumer } from "@posthaste/kafka/consumer/consumer";
import type { WindowedConsumer } from "@posthaste/kafka/consumer/windowed-consumer";
import { followLog } from "@posthaste/kafka/log/log-reader";
import { createProducer, type Producer } from "@posthaste/kafka/producer/producer";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { createClusterView } from "@posthaste/local-stack/cluster-view";
import { type LocalStack, startLocalStack } from "@posthaste/local-stack/local-stack";
import { scratchFolder } from "@posthaste/local-stack/scratch-folder";
import type { StackProcess } from "@posthaste/local-stack/stack-process";
import { eventually } from "@posthaste/testkit/eventually";
import { createTopic, uniqueName } from "@posthaste/testkit/topics";
import { afterAll, beforeAll, expect, it } from "vitest";

const PARTITIONS = 6;
const EACH = Array.from({ length: PARTITIONS }, (_, partition) => partition);
/** Far more than a record takes, less than any deadline of a request. */
const SOON = { timeoutMs: 20_000 };
const LATER = { timeoutMs: 60_000 };

let dataDir: string;
let stack: LocalStack;
let connection: KafkaConnection;
/** Each partition on one broker. */
let single: string;
/** As many replicas as the cluster has, one fewer needed. */
let safe: string;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(scratchFolder(process.env), "posthaste-partitions-"));
  const options = {
    dataDir,
    brokers: 3,
    shortLived: true,
    ignoreNamed: true,
    env: process.env,
    log: () => {},
  } as const;
  stack = await startLocalStack(options);
  connection = connectKafka({ brokers: stack.brokers, clientId: "test", log: SILENT_LOG });
  const make = (name: string, replicationFactor: number, settings: Record<string, string>) =>
    createTopic(uniqueName(name), { partitions: PARTITIONS, replicationFactor, settings, brokers: stack.brokers });
  single = await make("single", 1, { "min.insync.replicas": "1" });
  safe = await make("safe", 3, { "min.insync.replicas": "2" });
  // Kafka makes its own topic of offsets for the first group, and only while it has enough brokers.
  const first = createReader(safe, () => {});
  await first.start();
  await first.stop();
});

afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await connection?.close();
  await stack?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function openProducer(...topics: readonly string[]): Promise<Producer> {
  const producer = await createProducer(connection, { name: "test", topics });
  closing.push(() => producer.close(1000));
  return producer;
}

const send = (producer: Producer, topic: string, partition: number, value: string) =>
  producer.send([{ topic, key: null, value: Buffer.from(value), partition }]);

/** A new group that tells of each record its partition and value. */
function createReader(topic: string, onRead: (text: string) => void): WindowedConsumer {
  return createWindowedConsumer<string>(connection, {
    groupId: uniqueName("group"),
    topics: [topic],
    window: { maxRecords: 1000, maxBytes: 1_000_000 },
    take: ({ partition, value }) => `${partition} ${value}`,
    laneOf: () => null,
    run: (task) => {
      onRead(task.item);
      task.finish();
    },
    onFailure: (reason) => {
      throw reason;
    },
  });
}

/** Values of a partition, as they stand in the log. */
async function readValues(topic: string, partition: number): Promise<readonly string[]> {
  const offsets = await topicOffsets(connection, topic);
  const values: string[] = [];
  const onRecords = (records: readonly IncomingRecord[]) =>
    void values.push(...records.map(({ value }) => String(value)));
  const reader = await followLog(connection, { topic, partition, from: "start", onRecords, onFailure: () => {} });
  await reader.reached(offsets[partition]?.end ?? 0);
  await reader.close();
  return values;
}

it("P1: a partition whose only replica is down holds up its own records, and nobody else", async () => {
  const producer = await openProducer(single, safe);
  for (const partition of EACH) await send(producer, single, partition, "before");
  const view = createClusterView(stack);
  const victim = brokerNamed("kafka-3");
  // Each broker hears of them at a time of its own.
  const leaders = await eventually(async () => {
    const found = await Promise.all(EACH.map((partition) => view.leaderOf(single, partition)));
    expect(found).not.toContain(undefined);
    return found;
  });
  const [down, up] = [
    leaders.map((leader) => leader === victim.name),
    leaders.map((leader) => leader !== victim.name),
  ].map((mask) => EACH.filter((partition) => mask[partition])) as [number[], number[]];
  expect([down.length > 0, up.length > 0]).toEqual([true, true]);

  await victim.kill();
  // Until the cluster has replaced it, which takes its session.
  await eventually(async () => {
    for (const partition of EACH) expect([undefined, victim.name]).not.toContain(await view.leaderOf(safe, partition));
  }, LATER);

  // A stuck record stays stuck, behind it the same partitions' later records.
  const stuck = down.flatMap((partition) => ["a", "b"].map((value) => send(producer, single, partition, value)));
  let unstuck = 0;
  for (const each of stuck) {
    each.then(
      () => (unstuck += 1),
      () => {},
    );
  }

  // The producer that has it, for the other partitions and for another topic.
  for (const partition of up) await within(send(producer, single, partition, "a"));
  for (const partition of EACH) await within(send(producer, safe, partition, "a"));
  // A producer that is new.
  const fresh = await within(openProducer(single));
  for (const partition of up) await within(send(fresh, single, partition, "b"));
  // A new group reads the records that are there, and goes on when the rest is.
  const read = new Set<string>();
  const consumer = createReader(single, (text) => read.add(text));
  closing.push(() => consumer.stop());
  await consumer.start();
  const expected = (partitions: readonly number[]) =>
    partitions.flatMap((partition) => ["before", "a", "b"].map((value) => `${partition} ${value}`)).sort();
  await eventually(() => expect([...read].sort()).toEqual(expected(up)));
  expect(unstuck).toBe(0);

  await victim.start();
  await Promise.all(stuck);
  await eventually(() => expect([...read].sort()).toEqual(expected(EACH)), LATER);
  for (const partition of down) expect([...new Set(await readValues(single, partition))]).toEqual(["before", "a", "b"]);
});

it("P1: partitions with fewer replicas than they must have hold up no other topic of their producer", async () => {
  const settings = { "min.insync.replicas": "3" };
  const { brokers } = stack;
  const short = await createTopic(uniqueName("short"), { partitions: 3, replicationFactor: 3, settings, brokers });
  const producer = await openProducer(short, safe);
  for (const partition of [0, 1, 2]) await send(producer, short, partition, "before");
  const victim = brokerNamed("kafka-2");
  const view = createClusterView(stack);
  await victim.kill();
  await eventually(async () => {
    const partitions = (await view.partitions()).filter(({ topic }) => topic === short || topic === safe);
    expect(partitions.every(({ leader, inSync }) => leader !== undefined && inSync.length === 2)).toBe(true);
  }, LATER);
  let taken = 0;
  const stuck = [0, 1, 2].map((partition) => send(producer, short, partition, "stuck"));
  for (const each of stuck) {
    each.then(
      () => (taken += 1),
      () => {},
    );
  }
  // Records for the broker that was killed have been sent again by now.
  for (const partition of EACH) await within(send(producer, safe, partition, "warm"));
  const values = Array.from({ length: 500 }, (_, index) => `short-${index}`);
  const startedMs = performance.now();
  for (const value of values) await within(send(producer, safe, 1, value));
  // None of them was sent twice: nothing of the producer is thrown away for the partitions that are short.
  expect((await readValues(safe, 1)).filter((value) => value.startsWith("short"))).toEqual(values);
  expect([taken, producer.stalledMs(safe)]).toEqual([0, 0]);
  expect(producer.stalledMs(short)).toBeGreaterThan(performance.now() - startedMs - 1);
  await victim.start();
  await Promise.all(stuck);
});

function brokerNamed(name: string): StackProcess {
  const broker = stack.processes.find((each) => each.name === name);
  if (broker === undefined) throw new Error(`there is no ${name}`);
  return broker;
}

/** The promise's result; rejects when it takes longer than anything that is well does. */
async function within<T>(promise: Promise<T>): Promise<T> {
  let isDone = false;
  const done = promise.finally(() => {
    isDone = true;
  });
  await eventually(() => expect(isDone).toBe(true), SOON);
  return await done;
}
