/** Rule: GC5 of partition-queue.ts. */
import { describe, expect, it, vi } from "vitest";
import type { PartitionAnswer } from "../src/kafkajs/kafkajs-internals.ts";
import { MAX_REQUEST_BYTES } from "../src/producer/batch-sender.ts";
import { STUCK_MS } from "../src/producer/channels.ts";
import { MAX_BATCH_BYTES } from "../src/producer/place-record.ts";
import { CLOSE_FLUSH_MS } from "../src/producer/producer.ts";
import { answerFor, never } from "./fake-brokers.ts";

import {
  brokers,
  connectionLost,
  logged,
  open,
  openWith,
  producer,
  record,
  registry,
  send,
  turn,
  useProducer,
  watch,
} from "./use-producer.ts";

const MESSAGE_TOO_LARGE = 10;

useProducer();

describe("gathering", () => {
  it("sends what is given in one turn of the event loop in one request, and keeps the order of the calls", async () => {
    await Promise.all([send("a"), send("b"), producer.send([record("c"), record("d", 1)])]);
    expect(brokers.values).toEqual([["a", "b", "c", "d"]]);
  });

  it("P1: has one request to a broker out and gathers what comes meanwhile, of all of its partitions", async () => {
    const answer = Promise.withResolvers<readonly PartitionAnswer[]>();
    brokers.script.push(() => answer.promise);
    const first = send("a", 0);
    await turn();
    const later = [send("b", 1), send("c", 0), send("d", 1)];
    await turn();
    expect(brokers.values).toEqual([["a"]]);
    answer.resolve([{ topicName: "t", partition: 0, errorCode: 0 }]);
    await Promise.all([first, ...later]);
    expect(brokers.values).toEqual([["a"], ["b", "d", "c"]]);
  });

  it("sends each leader its partitions, and waits for no other leader with the next request", async () => {
    openWith(1, 2, 1, 2);
    const slow = Promise.withResolvers<readonly PartitionAnswer[]>();
    brokers.script.push(() => slow.promise);
    const calls = [send("a", 0), send("b", 1), send("c", 2), send("d", 3)];
    await turn();
    expect(brokers.requests.map(({ nodeId, values }) => [nodeId, values])).toEqual([
      [1, ["a", "c"]],
      [2, ["b", "d"]],
    ]);
    await send("e", 1);
    slow.resolve([0, 2].map((partition) => ({ topicName: "t", partition, errorCode: 0 })));
    await Promise.all(calls);
  });

  it("BS5: sends records that joined what was left where it was, as soon as the answer is there", async () => {
    const answered = Promise.withResolvers<void>();
    brokers.script.push(async (batches) => {
      await answered.promise;
      return answerFor(batches);
    });
    const sent = [send("a"), send("b"), send("c"), send("d", 1)];
    await turn();
    sent.push(send("e"), send("f", 2));
    await turn();
    answered.resolve();
    await Promise.all(sent);
    expect(producer.pendingBytes).toBe(0);
  });

  it("bounds a request, and sends the rest with the next ones", async () => {
    const value = "x".repeat(MAX_BATCH_BYTES - 1000);
    openWith(1, 1, 1, 1, 1, 1, 1, 1);
    const calls = Array.from({ length: 8 }, (_, index) => send(value, index));
    await Promise.all(calls);
    // As many full batches as fit, and no more.
    expect(MAX_REQUEST_BYTES / MAX_BATCH_BYTES).toBe(4);
    expect(brokers.requests.map(({ partitions }) => partitions)).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
  });

  it("puts equal keys in one partition, and records without a key in turn", async () => {
    const withKey = { topic: "t", key: "user-1", value: null };
    const without = { topic: "t", key: null, value: null };
    await producer.send([withKey, { ...withKey, key: Buffer.from("user-1") }]);
    expect(brokers.requests[0]?.partitions).toHaveLength(1);
    await producer.send([without, without, without, without]);
    expect(brokers.requests[1]?.partitions.toSorted()).toEqual([0, 1, 2, 3]);
  });
});

describe("a request that is not answered", () => {
  it("P2: throws its connection away, and its records go out with another before anything else", async () => {
    brokers.script.push(connectionLost);
    const first = send("a");
    await turn();
    const second = send("b");
    await vi.advanceTimersByTimeAsync(100);
    await Promise.all([first, second]);
    expect(brokers.requests.map(({ client, values }) => [client, values])).toEqual([
      [0, ["a"]],
      [1, ["a"]],
      [1, ["b"]],
    ]);
    expect(brokers.destroyed).toEqual([0]);
    expect(await registry.metrics()).toContain('posthaste_producer_replaced_total{class="test"} 1');
  });

  it("P2: throws away no other broker's connection, and what is out there is not sent again", async () => {
    openWith(1, 2);
    const slow = Promise.withResolvers<readonly PartitionAnswer[]>();
    brokers.script.push(connectionLost, () => slow.promise);
    const calls = [send("a", 0), send("b", 1)];
    await vi.advanceTimersByTimeAsync(200);
    expect(brokers.values).toEqual([["a"], ["b"], ["a"]]);
    slow.resolve([{ topicName: "t", partition: 1, errorCode: 0 }]);
    await Promise.all(calls);
    expect(brokers.destroyed).toEqual([0]);
  });

  it("P2: is sent again for as long as it takes", async () => {
    brokers.script.push(...Array.from({ length: 50 }, () => connectionLost));
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(60_000);
    await sent;
    expect(brokers.requests).toHaveLength(51);
  });

  it("P2: goes to who leads the partition by then", async () => {
    brokers.script.push(connectionLost);
    const sent = send("a");
    await turn();
    brokers.leaders[0] = 2;
    await vi.advanceTimersByTimeAsync(100);
    await sent;
    expect(brokers.requests.map(({ nodeId }) => nodeId)).toEqual([1, 2]);
  });

  it("P2: has 5 seconds to connect", async () => {
    brokers.connect = never;
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(4999);
    expect(brokers.destroyed).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(brokers.destroyed).toEqual([0]);
    brokers.connect = async () => {};
    await vi.advanceTimersByTimeAsync(100);
    await sent;
    expect(brokers.requests).toMatchObject([{ client: 1, values: ["a"] }]);
  });

  it("P2: has 10 s, doubled after each silence to 60, and 10 after a success; its broker has less", async () => {
    brokers.script.push(never, never, never, never, never);
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(300_000);
    await sent;
    await send("b");
    expect(brokers.requests.map(({ timeoutMs }) => timeoutMs)).toEqual([
      8000, 16_000, 32_000, 48_000, 48_000, 48_000, 8000,
    ]);
  });

  it("P2: gets no longer deadline after a failure that was no silence", async () => {
    brokers.script.push(connectionLost);
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(100);
    await sent;
    expect(brokers.requests.map(({ timeoutMs }) => timeoutMs)).toEqual([8000, 8000]);
  });

  it("P2: counts for nothing when it is answered after its connection was thrown away", async () => {
    const late = Promise.withResolvers<readonly PartitionAnswer[]>();
    brokers.script.push(() => late.promise, never);
    const settled = watch(["a", send("a")]);
    await vi.advanceTimersByTimeAsync(10_100);
    expect(brokers.requests).toHaveLength(2);
    late.resolve([{ topicName: "t", partition: 0, errorCode: 0 }]);
    await turn();
    expect(settled).toEqual([]);
  });

  it("P1: holds up those that are in it, and after a second nobody else", async () => {
    brokers.script.push(never);
    const settled = watch(["a", send("a", 0)]);
    await turn();
    const other = send("b", 1);
    await vi.advanceTimersByTimeAsync(STUCK_MS - 10);
    expect(brokers.values).toEqual([["a"]]);
    await vi.advanceTimersByTimeAsync(20);
    await other;
    await send("c", 1);
    expect(brokers.requests.map(({ client, values }) => [client, values])).toEqual([
      [0, ["a"]],
      [1, ["b"]],
      [1, ["c"]],
    ]);
    expect([settled, brokers.destroyed]).toEqual([[], []]);
  });
});

describe("what a producer tells of itself", () => {
  it("is how much is unacknowledged and for how long", async () => {
    brokers.script.push(never);
    void send("a");
    await vi.advanceTimersByTimeAsync(3000);
    expect(producer.oldestPendingMs).toBe(3000);
    expect(producer.pendingBytes).toBeGreaterThan(0);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(producer.oldestPendingMs).toBe(0);
    expect(producer.pendingBytes).toBe(0);
  });

  it("is on the metrics page as it is when the page is read, and nothing once it is closed", async () => {
    const pending = async () => /producer_pending_bytes\{class="test"\} (\d+)/.exec(await registry.metrics())?.[1];
    expect(await pending()).toBe("0");
    brokers.respond = never;
    send("a").catch(() => {});
    await turn();
    // Nothing of it can go out while the first waits for its answer.
    send("b").catch(() => {});
    expect(await pending()).toBe(String(producer.pendingBytes));
    expect(producer.pendingBytes).toBeGreaterThan(0);
    void producer.close(0);
    await vi.advanceTimersByTimeAsync(CLOSE_FLUSH_MS);
    expect(await pending()).toBe("0");
  });

  it("is for how long no partition of a topic takes anything", async () => {
    brokers.respond = never;
    for (const partition of [0, 1, 2]) void send("a", partition);
    await vi.advanceTimersByTimeAsync(3000);
    expect(producer.stalledMs("t")).toBe(0);
    void send("a", 3);
    await vi.advanceTimersByTimeAsync(500);
    expect(producer.stalledMs("t")).toBe(500);
    expect(producer.stalledMs("u")).toBe(0);
  });

  it("is for how long no partition of a topic takes anything, whichever began to wait last", async () => {
    brokers.respond = never;
    for (const partition of [0, 2, 3]) void send("a", partition);
    await vi.advanceTimersByTimeAsync(3000);
    void send("a", 1);
    await vi.advanceTimersByTimeAsync(500);
    expect(producer.stalledMs("t")).toBe(500);
  });

  it("is that it was never replaced, until it is", async () => {
    expect(await registry.metrics()).toContain('posthaste_producer_replaced_total{class="test"} 0');
  });
});

describe("backpressure", () => {
  it("holds while so much is unacknowledged, and tells when it no longer does", async () => {
    const answer = Promise.withResolvers<readonly PartitionAnswer[]>();
    brokers.script.push(() => answer.promise);
    const backpressure = producer.backpressure(1000);
    let releases = 0;
    backpressure.onReleased(() => (releases += 1));
    expect(backpressure.isHolding).toBe(false);
    const sent = [send("x".repeat(600), 0), send("x".repeat(600), 1)];
    expect([backpressure.isHolding, releases]).toEqual([true, 0]);
    await turn();
    answer.resolve([{ topicName: "t", partition: 0, errorCode: 0 }]);
    await sent[0];
    expect([backpressure.isHolding, releases]).toEqual([false, 1]);
    await vi.advanceTimersByTimeAsync(500);
    await sent[1];
    // Nobody was held in between.
    expect(releases).toBe(1);
  });
});

describe("records that no broker takes", () => {
  it("refuses a call with one of them, and sends nothing of it", async () => {
    const tooLarge = { ...record("x"), value: Buffer.alloc(MAX_BATCH_BYTES) };
    await expect(producer.send([record("a"), tooLarge])).rejects.toMatchObject({ code: "invalid_input" });
    await expect(producer.send([{ ...record("a"), topic: "u" }])).rejects.toMatchObject({ code: "invalid_input" });
    await expect(send("a", 4)).rejects.toMatchObject({ code: "invalid_input" });
    await send("b");
    expect(brokers.values).toEqual([["b"]]);
    expect(producer.pendingBytes).toBe(0);
  });

  it("GC5: refuses the one that the broker refuses, and sends the others of its partition and the rest", async () => {
    brokers.respond = async (batches) =>
      batches.flatMap(({ topic, partition, records }) => {
        const isBad = records.some(({ value }) => String(value) === "bad");
        return [{ topicName: topic, partition, errorCode: isBad ? MESSAGE_TOO_LARGE : 0 }];
      });
    const outcomes = await Promise.allSettled([send("a"), send("bad"), send("c"), send("d", 1)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(outcomes[1]).toMatchObject({ reason: { code: "invalid_input" } });
    expect(brokers.values).toEqual([["a", "bad", "c", "d"], ["a"], ["bad"], ["c"]]);
    expect(brokers.destroyed).toEqual([]);
  });
});

describe("closing", () => {
  it("flushes, then disconnects", async () => {
    const answer = Promise.withResolvers<readonly PartitionAnswer[]>();
    await send("before");
    brokers.script.push(() => answer.promise);
    const sent = send("a");
    await turn();
    const last = send("b");
    const closed = producer.close();
    await expect(send("c")).rejects.toMatchObject({ code: "closed" });
    answer.resolve([{ topicName: "t", partition: 0, errorCode: 0 }]);
    await Promise.all([sent, last, closed]);
    expect(brokers.values).toEqual([["before"], ["a"], ["b"]]);
    expect(brokers.disconnected).toEqual([0]);
  });

  it("gives up what is not acknowledged in time, and tells its callers", async () => {
    brokers.script.push(never);
    const outcomes = Promise.allSettled([send("a"), send("b")]);
    await turn();
    const { pendingBytes } = producer;
    const closed = producer.close();
    await vi.advanceTimersByTimeAsync(CLOSE_FLUSH_MS);
    await closed;
    expect(await outcomes).toMatchObject([{ reason: { code: "closed" } }, { reason: { code: "closed" } }]);
    expect(brokers.destroyed).toEqual([0]);
    expect(logged).toMatchObject([
      { event: "producer_close_unflushed", producer: "test", pendingBytes, oldestPendingMs: CLOSE_FLUSH_MS },
    ]);
  });

  it("leaves no timer behind, whatever a request that is out comes to, and asks no more who leads", async () => {
    let closes = 0;
    open({ ...brokers.picture, close: () => (closes += 1) });
    const lost = Promise.withResolvers<never>();
    brokers.script.push(connectionLost, () => lost.promise);
    const outcomes = Promise.allSettled([send("a")]);
    await turn();
    await vi.advanceTimersByTimeAsync(300);
    const closed = producer.close(50);
    await vi.advanceTimersByTimeAsync(50);
    await closed;
    lost.reject(new Error("lost"));
    await turn();
    expect([closes, vi.getTimerCount()]).toEqual([1, 0]);
    expect(await outcomes).toMatchObject([{ reason: { code: "closed" } }]);
    expect(brokers.values).toEqual([["a"], ["a"]]);
  });

  it("leaves no timer behind of a partition that waits for the end of a pause", async () => {
    brokers.respond = connectionLost;
    const outcome = Promise.allSettled([send("a")]);
    await vi.advanceTimersByTimeAsync(10);
    const closed = producer.close(1);
    await vi.advanceTimersByTimeAsync(1);
    await closed;
    expect(vi.getTimerCount()).toBe(0);
    expect(await outcome).toMatchObject([{ reason: { code: "closed" } }]);
  });

  it("gives up sooner where its owner says so", async () => {
    brokers.script.push(never);
    const outcome = Promise.allSettled([send("a")]);
    await turn();
    const closed = producer.close(1000);
    await vi.advanceTimersByTimeAsync(1000);
    await closed;
    expect(await outcome).toMatchObject([{ reason: { code: "closed" } }]);
  });

  it("sends nothing more afterwards", async () => {
    brokers.respond = connectionLost;
    const outcome = Promise.allSettled([send("a")]);
    await turn();
    const closed = producer.close(50);
    await vi.advanceTimersByTimeAsync(50);
    await closed;
    const before = brokers.requests.length;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(brokers.requests.length).toBe(before);
    expect(await outcome).toMatchObject([{ reason: { code: "closed" } }]);
  });
});
