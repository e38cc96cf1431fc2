/**
 * Compares a window with kafkajs's own loop, and pausing with waiting where the window is full (C8). Run it in
 * packages/kafka:
 *
 * `KAFKA_BROKERS=host:port node --conditions=@posthaste/source bench/window.ts [records] [rounds]`
 */
import { SILENT_LOG } from "@posthaste/core/log";
import { Kafka, logLevel } from "kafkajs";
import { connectKafka } from "../src/connection/connect.ts";
import { createWindowedConsumer } from "../src/consumer/consumer.ts";
import { decodeLazily } from "../src/kafkajs/lazy-decoding.ts";

const PARTITIONS = 6;
const VALUE = Buffer.alloc(1024, "x");
/** The settings with which both loops fetch. */
const FETCH = { maxWaitTimeInMs: 20, maxBytesPerPartition: 512 * 1024, maxBytes: 4 * 1024 * 1024 };

const brokers = (process.env.KAFKA_BROKERS ?? "127.0.0.1:9092").split(",");
const records = Number(process.argv[2] ?? 100_000);
const rounds = Number(process.argv[3] ?? 3);
// Replaces kafkajs's decoder before either loop takes it, so that both loops decode alike.
decodeLazily();
const kafka = new Kafka({ clientId: "bench", brokers, logLevel: logLevel.NOTHING });
const topic = `bench-window-${Date.now()}`;
let groups = 0;

interface Result {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

/** Runs `consume` until it called `count` for every record. The measurement begins with the first record. */
async function measure(consume: (count: () => void) => Promise<() => Promise<unknown>>): Promise<Result> {
  let seen = 0;
  let startedMs = 0;
  let cpu = process.cpuUsage();
  const all = Promise.withResolvers<void>();
  const end = await consume(() => {
    if (seen === 0) {
      startedMs = performance.now();
      cpu = process.cpuUsage();
    }
    seen += 1;
    if (seen === records) all.resolve();
  });
  await all.promise;
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await end();
  return { perSecond: records / seconds, cpuMicros: (user + system) / records };
}

const nextGroup = () => `${topic}-${++groups}`;

/** Runs kafkajs's own loop, and calls `each` for every record of a batch. */
async function raw(each: (key: string) => Promise<void> | undefined): Promise<() => Promise<void>> {
  const consumer = kafka.consumer({ groupId: nextGroup(), ...FETCH });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    partitionsConsumedConcurrently: PARTITIONS,
    eachBatch: async ({ batch }) => {
      for (const { key } of batch.messages) {
        const waiting = each(String(key));
        if (waiting !== undefined) await waiting;
      }
    },
  });
  return () => consumer.disconnect();
}

async function windowed(maxRecords: number, run: (finish: () => void) => void): Promise<() => Promise<void>> {
  const connection = connectKafka({ brokers, clientId: "bench", log: SILENT_LOG });
  const consumer = createWindowedConsumer<string>(connection, {
    groupId: nextGroup(),
    topics: [topic],
    window: { maxRecords, maxBytes: 64 * 1024 * 1024 },
    take: ({ key }) => String(key),
    laneOf: (key) => key,
    run: (task) => run(() => task.finish()),
    onFailure: (reason) => {
      throw reason;
    },
  });
  await consumer.start();
  return async () => {
    await consumer.stop();
    await connection.close();
  };
}

/** Work that takes `ms`. One timer serves all of it, as a sender's timer wheel would. */
function createWork(ms: number): { start(done: () => void): void; end(): void } {
  const queue: { readonly dueMs: number; readonly done: () => void }[] = [];
  let next = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (let each = queue[next]; each !== undefined && each.dueMs <= nowMs; each = queue[next]) {
      next += 1;
      each.done();
    }
    if (next < 10_000) return;
    queue.splice(0, next);
    next = 0;
  }, 1);
  return { start: (done) => void queue.push({ dueMs: performance.now() + ms, done }), end: () => clearInterval(timer) };
}

/** Waits in the batch handler while `maxRecords` for each partition are in flight. The partitions share the limit. */
async function waiting(maxRecords: number, start: (done: () => void) => void): Promise<() => Promise<void>> {
  let inFlight = 0;
  let woken: (() => void)[] = [];
  return raw(() => {
    inFlight += 1;
    start(() => {
      inFlight -= 1;
      const waiters = woken;
      woken = [];
      for (const wake of waiters) wake();
    });
    return inFlight < maxRecords * PARTITIONS ? undefined : new Promise<void>((resolve) => woken.push(resolve));
  });
}

const CASES: Record<string, (count: () => void) => Promise<() => Promise<unknown>>> = {
  "raw loop": (count) => raw(() => void count()),
  "window, work at once": (count) =>
    windowed(1000, (finish) => {
      finish();
      count();
    }),
  ...Object.fromEntries(
    [50, 500].flatMap((limit) => [
      [`full window of ${limit}, 5 ms: pausing`, (count: () => void) => full(count, (start) => windowed(limit, start))],
      [`full window of ${limit}, 5 ms: waiting`, (count: () => void) => full(count, (start) => waiting(limit, start))],
    ]),
  ),
};

async function full(
  count: () => void,
  consume: (start: (done: () => void) => void) => Promise<() => Promise<void>>,
): Promise<() => Promise<unknown>> {
  const work = createWork(5);
  const end = await consume((done) =>
    work.start(() => {
      done();
      count();
    }),
  );
  return () => end().then(() => work.end());
}

async function writeTopic(): Promise<void> {
  const producer = kafka.producer();
  await producer.connect();
  for (let at = 0; at < records; at += 1000) {
    const messages = Array.from({ length: Math.min(1000, records - at) }, (_, index) => ({
      partition: index % PARTITIONS,
      key: `destination-${(at + index) % 5000}`,
      value: VALUE,
    }));
    await producer.send({ topic, messages });
  }
  await producer.disconnect();
}

const admin = kafka.admin();
await admin.connect();
await admin.createTopics({ waitForLeaders: true, topics: [{ topic, numPartitions: PARTITIONS }] });
await writeTopic();
try {
  for (let round = 1; round <= rounds; round += 1) {
    for (const [name, consume] of Object.entries(CASES)) {
      const { perSecond, cpuMicros } = await measure(consume);
      process.stdout.write(
        `${round}  ${name.padEnd(34)} ${perSecond.toFixed(0).padStart(7)}/s  ${cpuMicros.toFixed(1)} us CPU\n`,
      );
    }
  }
} finally {
  await admin.deleteTopics({ topics: [topic] });
  await admin.disconnect();
}
