import { SILENT_LOG } from "@posthaste/core/log";
import kafkajs from "kafkajs";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Batch } from "./group-commit.ts";
import type { PartitionAnswer } from "./kafkajs-internals.ts";
import { createKafkaMetrics } from "./metrics.ts";
import { CLOSE_FLUSH_MS, GroupCommitProducer, MAX_BATCH_BYTES, type OutgoingRecord } from "./producer.ts";
import type { SendingClient } from "./producer-client.ts";

type Connect = () => Promise<void>;
type SendBatch = (batch: Batch) => Promise<readonly PartitionAnswer[]>;

const never = () => new Promise<never>(() => {});

/** An answer that names every partition of the batch with error 0. */
const acknowledgeAll: SendBatch = async (batch) => answerFor(batch);

function answerFor(batch: Batch, isNamed: (partition: number) => boolean = () => true): PartitionAnswer[] {
  return [...batch].flatMap(([topic, records]) =>
    [...new Set(records.map(({ partition }) => partition))]
      .filter(isNamed)
      .map((partition) => ({ topicName: topic, partition, errorCode: 0 })),
  );
}

function valuesOf(batch: Batch): string[] {
  return [...batch.values()].flatMap((records) => records.map(({ value }) => String(value)));
}

/** Brokers behind a producer: what its clients did, and what the next send comes to. */
class FakeBrokers {
  /** Values of each `sendBatch`, and which client sent it. */
  readonly sends: { client: number; values: string[]; timeout: number }[] = [];
  readonly destroyed: number[] = [];
  readonly disconnected: number[] = [];
  connect: Connect = async () => {};
  /** Used up one by one; when it is empty everything is acknowledged. */
  readonly script: SendBatch[] = [];

  readonly makeClient = (made: number): SendingClient => ({
    connect: () => this.connect(),
    sendBatch: (batch, timeout) => {
      this.sends.push({ client: made, values: valuesOf(batch), timeout });
      return (this.script.shift() ?? acknowledgeAll)(batch);
    },
    disconnect: async () => {
      this.disconnected.push(made);
    },
    destroy: () => {
      this.destroyed.push(made);
    },
  });

  get values(): string[][] {
    return this.sends.map(({ values }) => values);
  }
}

const connectionLost: SendBatch = async () => {
  throw new kafkajs.KafkaJSConnectionError("closed");
};

describe("the producer", () => {
  let brokers: FakeBrokers;
  let producer: GroupCommitProducer;
  let registry: Registry;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    brokers = new FakeBrokers();
    registry = new Registry();
    producer = new GroupCommitProducer({
      name: "test",
      topics: ["t"],
      connection: { log: SILENT_LOG, metrics: createKafkaMetrics(registry) },
      makeClient: brokers.makeClient,
      partitionsOf: (topic) => (topic === "t" ? 4 : undefined),
    });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const send = (value: string, partition = 0) => producer.send([record(value, partition)]);
  const record = (value: string, partition = 0): OutgoingRecord => ({
    topic: "t",
    key: null,
    value: Buffer.from(value),
    partition,
  });

  it("sends what is given in one turn of the event loop together, and keeps the order of the calls", async () => {
    await Promise.all([send("a"), send("b"), producer.send([record("c"), record("d")])]);
    expect(brokers.values).toEqual([["a", "b", "c", "d"]]);
  });

  it("P1: has one send outstanding and gathers what comes meanwhile", async () => {
    const answer = Promise.withResolvers<PartitionAnswer[]>();
    brokers.script.push(() => answer.promise);
    const first = send("a");
    await vi.advanceTimersByTimeAsync(0);
    const later = [send("b"), send("c")];
    await vi.advanceTimersByTimeAsync(0);
    expect(brokers.values).toEqual([["a"]]);
    answer.resolve([{ topicName: "t", partition: 0, errorCode: 0 }]);
    await Promise.all([first, ...later]);
    expect(brokers.values).toEqual([["a"], ["b", "c"]]);
  });

  it("P2: throws the client away after a rejection and sends again with another before anything else", async () => {
    brokers.script.push(connectionLost);
    const first = send("a");
    await vi.advanceTimersByTimeAsync(0);
    const second = send("b");
    await vi.advanceTimersByTimeAsync(100);
    await Promise.all([first, second]);
    expect(brokers.sends.map(({ client, values }) => [client, values])).toEqual([
      [0, ["a"]],
      [1, ["a"]],
      [1, ["b"]],
    ]);
    expect(brokers.destroyed).toEqual([0]);
    expect(await registry.metrics()).toContain('posthaste_producer_replaced_total{class="test"} 1');
  });

  it("P2: sends again for as long as it takes", async () => {
    brokers.script.push(...Array.from({ length: 50 }, () => connectionLost));
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(60_000);
    await sent;
    expect(brokers.sends).toHaveLength(51);
  });

  it("P2: gives a connect 5 seconds", async () => {
    brokers.connect = never;
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(4999);
    expect(brokers.destroyed).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(brokers.destroyed).toEqual([0]);
    brokers.connect = async () => {};
    await vi.advanceTimersByTimeAsync(100);
    await sent;
    expect(brokers.sends).toMatchObject([{ client: 1, values: ["a"] }]);
  });

  it("P2: gives a send 10 seconds, doubled after each silent failure to 60, and 10 again after a success", async () => {
    brokers.script.push(never, never, never, never, never);
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(300_000);
    await sent;
    await send("b");
    expect(brokers.sends.map(({ timeout }) => timeout)).toEqual([
      10_000, 20_000, 40_000, 60_000, 60_000, 60_000, 10_000,
    ]);
  });

  it("P2: takes a broker that waited in vain for its replicas for a silent failure", async () => {
    const type = "REQUEST_TIMED_OUT";
    brokers.script.push(async () => {
      throw new kafkajs.KafkaJSProtocolError({ name: "", message: type, type, code: 7, retriable: true } as never);
    });
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(1000);
    await sent;
    expect(brokers.sends.map(({ timeout }) => timeout)).toEqual([10_000, 20_000]);
  });

  it("P2: does not lengthen the deadline after a failure that was told", async () => {
    brokers.script.push(connectionLost);
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(100);
    await sent;
    expect(brokers.sends.map(({ timeout }) => timeout)).toEqual([10_000, 10_000]);
  });

  it("P2: takes no answer from a client that was thrown away", async () => {
    const late = Promise.withResolvers<PartitionAnswer[]>();
    brokers.script.push(() => late.promise, never);
    let settled = false;
    void send("a").then(() => {
      settled = true;
    });
    await vi.advanceTimersByTimeAsync(10_100);
    expect(brokers.sends).toHaveLength(2);
    late.resolve([{ topicName: "t", partition: 0, errorCode: 0 }]);
    await vi.advanceTimersByTimeAsync(0);
    expect(settled).toBe(false);
  });

  it("P3: sends a partition again that the answer does not name, and it alone", async () => {
    brokers.script.push(async (batch) => answerFor(batch, (partition) => partition !== 1));
    const named = send("a", 0);
    const unnamed = send("b", 1);
    await named;
    await vi.advanceTimersByTimeAsync(100);
    await unnamed;
    expect(brokers.values).toEqual([["a", "b"], ["b"]]);
    expect(brokers.destroyed).toEqual([0]);
  });

  it("P3: takes an empty answer for none", async () => {
    brokers.script.push(async () => []);
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(100);
    await sent;
    expect(brokers.values).toEqual([["a"], ["a"]]);
  });

  it("refuses a call with a record that no broker would take, and sends nothing of it", async () => {
    const tooLarge = { ...record("x"), value: Buffer.alloc(MAX_BATCH_BYTES) };
    await expect(producer.send([record("a"), tooLarge])).rejects.toMatchObject({ code: "invalid_input" });
    await expect(producer.send([{ ...record("a"), topic: "u" }])).rejects.toMatchObject({ code: "invalid_input" });
    await expect(send("a", 4)).rejects.toMatchObject({ code: "invalid_input" });
    await send("b");
    expect(brokers.values).toEqual([["b"]]);
    expect(producer.pendingBytes).toBe(0);
  });

  it("refuses the record that the broker refuses and keeps sending the others", async () => {
    const type = "MESSAGE_TOO_LARGE";
    const refuseBad: SendBatch = async (batch) => {
      if (!valuesOf(batch).includes("bad")) return answerFor(batch);
      throw new kafkajs.KafkaJSProtocolError({ name: "", message: type, type, code: 10, retriable: false } as never);
    };
    brokers.script.push(...Array.from({ length: 6 }, () => refuseBad));
    const outcomes = await Promise.allSettled([send("a"), send("bad"), send("c")]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(outcomes[1]).toMatchObject({ reason: { code: "invalid_input" } });
    // P1: another broker may not have answered for its part of what was refused.
    expect(brokers.destroyed).toEqual([0, 1]);
  });

  it("puts equal keys in one partition, and records without a key in turn", async () => {
    const partitions: number[] = [];
    brokers.script.push(async (batch) => {
      for (const records of batch.values()) partitions.push(...records.map(({ partition }) => partition));
      return answerFor(batch);
    });
    const withKey = { topic: "t", key: "user-1", value: null };
    const without = { topic: "t", key: null, value: null };
    await producer.send([withKey, { ...withKey, key: Buffer.from("user-1") }, without, without, without, without]);
    const [first, second, ...turns] = partitions;
    expect(first).toBe(second);
    expect([...turns].sort()).toEqual([0, 1, 2, 3]);
  });

  it("tells how much is unacknowledged and for how long", async () => {
    brokers.script.push(never);
    void send("a");
    await vi.advanceTimersByTimeAsync(3000);
    expect(producer.oldestPendingMs).toBe(3000);
    expect(producer.pendingBytes).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(producer.oldestPendingMs).toBe(0);
    expect(producer.pendingBytes).toBe(0);
  });

  it("flushes when it is closed, then says goodbye", async () => {
    const answer = Promise.withResolvers<PartitionAnswer[]>();
    brokers.script.push(() => answer.promise);
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(0);
    const last = send("b");
    const closed = producer.close();
    await expect(send("c")).rejects.toMatchObject({ code: "closed" });
    answer.resolve([{ topicName: "t", partition: 0, errorCode: 0 }]);
    await Promise.all([sent, last, closed]);
    expect(brokers.values).toEqual([["a"], ["b"]]);
    expect(brokers.disconnected).toEqual([0]);
  });

  it("gives up what is not acknowledged in time when it is closed, and tells its callers", async () => {
    brokers.script.push(never);
    const outcomes = Promise.allSettled([send("a"), send("b")]);
    await vi.advanceTimersByTimeAsync(0);
    const closed = producer.close();
    await vi.advanceTimersByTimeAsync(CLOSE_FLUSH_MS);
    await closed;
    expect(await outcomes).toMatchObject([{ reason: { code: "closed" } }, { reason: { code: "closed" } }]);
    expect(brokers.destroyed).toEqual([0]);
  });

  it("gives up sooner where its owner says so", async () => {
    brokers.script.push(never);
    const outcome = Promise.allSettled([send("a")]);
    await vi.advanceTimersByTimeAsync(0);
    const closed = producer.close(1000);
    await vi.advanceTimersByTimeAsync(1000);
    await closed;
    expect(await outcome).toMatchObject([{ reason: { code: "closed" } }]);
  });
});
