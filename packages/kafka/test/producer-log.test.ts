import { describe, expect, it, vi } from "vitest";
import type { PartitionAnswer } from "../src/kafkajs/kafkajs-internals.ts";
import { answering } from "./fake-brokers.ts";
import {
  brokers,
  connectionLost,
  logged,
  openWith,
  producer,
  registry,
  send,
  turn,
  useProducer,
} from "./use-producer.ts";

const NOT_LEADER = 6;
const MESSAGE_TOO_LARGE = 10;
const NOT_ENOUGH_REPLICAS = 19;

useProducer();

describe("the log of a producer", () => {
  it("says that a connection was replaced, why, how often, what waits since when, and the end", async () => {
    brokers.script.push(connectionLost, connectionLost);
    const sent = send("a");
    const { pendingBytes } = producer;
    await vi.advanceTimersByTimeAsync(10_000);
    await sent;
    expect(logged).toMatchObject([
      {
        event: "producer_replaced",
        producer: "test",
        failures: 1,
        reason: "KafkaJSConnectionError: closed",
        pendingBytes,
        oldestPendingMs: 0,
      },
      { event: "producer_replaced", failures: 2, pendingBytes, oldestPendingMs: 100 },
      { event: "producer_recovered", producer: "test", pendingBytes: 0, oldestPendingMs: 0 },
    ]);
  });

  it("says a failure that goes on less and less often", async () => {
    brokers.respond = connectionLost;
    void send("a").catch(() => {});
    await vi.advanceTimersByTimeAsync(60_000);
    const failures = brokers.requests.length;
    expect(failures).toBeGreaterThan(64);
    expect(logged.map((line) => line["failures"])).toEqual([1, 2, 4, 8, 16, 32, 64].filter((each) => each <= failures));
  });

  it("names the partitions that cannot be written, some of many, with what the first one's answer says", async () => {
    openWith(...Array.from({ length: 30 }, () => 1));
    brokers.respond = answering((partition) => (partition < 25 ? NOT_LEADER : 0));
    const calls = Array.from({ length: 30 }, (_, partition) => send("a", partition));
    await turn();
    expect(logged).toMatchObject([{ event: "partitions_unwritten", failures: 1, reason: "NOT_LEADER_FOR_PARTITION" }]);
    expect(logged[0]?.["partitions"]).toEqual(Array.from({ length: 20 }, (_, partition) => `t/${partition}`));
    brokers.respond = answering(() => 0);
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all(calls);
    expect(logged.slice(1)).toMatchObject([{ event: "producer_recovered" }]);
  });

  it.each([
    ["lose their connection", "producer_replaced", connectionLost],
    ["are refused", "partitions_unwritten", answering(() => NOT_LEADER)],
  ])("says of partitions that %s together how often the one failed that failed most", async (_what, event, fail) => {
    brokers.respond = fail;
    const calls = [send("a", 0)];
    await vi.advanceTimersByTimeAsync(200);
    calls.push(send("b", 1));
    await turn();
    expect(logged).toMatchObject([1, 2, 1].map((failures) => ({ event, failures })));
    // The pause after a second failure ends when that after the other's first does.
    await vi.advanceTimersByTimeAsync(100);
    expect(brokers.requests.at(-1)).toMatchObject({ partitions: [0, 1] });
    expect(logged.slice(3)).toMatchObject([{ event, failures: 3 }]);
    brokers.respond = answering(() => 0);
    await vi.advanceTimersByTimeAsync(2_000);
    await Promise.all(calls);
  });

  it("says why a partition without a leader waits, and that the answer does not name one", async () => {
    brokers.leaders[0] = null;
    openWith(...brokers.leaders);
    const waiting = send("a", 0);
    await turn();
    brokers.script.push(answering(() => undefined));
    const unnamed = send("b", 1);
    await turn();
    expect(logged.map((line) => line["reason"])).toEqual([
      expect.stringContaining("no leader"),
      expect.stringContaining("does not name"),
    ]);
    brokers.leaders[0] = 1;
    await vi.advanceTimersByTimeAsync(2_000);
    await Promise.all([waiting, unnamed]);
  });
});

describe("the metrics of a producer", () => {
  it("are how long each request took, by what the producer is for", async () => {
    const answer = Promise.withResolvers<readonly PartitionAnswer[]>();
    await vi.advanceTimersByTimeAsync(5_000);
    brokers.script.push(() => answer.promise);
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(250);
    answer.resolve([{ topicName: "t", partition: 0, errorCode: 0 }]);
    await sent;
    expect(await registry.metrics()).toMatch(/posthaste_producer_send_seconds_sum\{class="test"\} 0\.25\n/);
  });

  it("are why batches were not acknowledged, and how long the oldest record waits", async () => {
    brokers.script.push(
      async () => [],
      answering(() => NOT_ENOUGH_REPLICAS),
      connectionLost,
      answering(() => MESSAGE_TOO_LARGE),
    );
    const refused = send("a").catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(50);
    const waits = /oldest_pending_seconds\{class="test"\} 0\.05\n/;
    expect(await registry.metrics()).toMatch(waits);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await refused).toMatchObject({ code: "invalid_input" });
    const counted = (await registry.metrics()).matchAll(/failures_total\{class="test",cause="(\w+)"\} ([1-9])/g);
    expect([...counted].map(([, cause, count]) => [cause, Number(count)])).toEqual([
      ["not_enough_replicas", 1],
      ["not_named", 1],
      ["too_large", 1],
      ["other", 1],
    ]);
  });
});
