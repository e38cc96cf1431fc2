/** Rule: PT3 of partition-troubles.ts. */
import { describe, expect, it, vi } from "vitest";
import { MAX_ASIDE, STUCK_MS } from "../src/producer/channels.ts";
import { answerFor, answering, never } from "./fake-brokers.ts";

import { brokers, open, openWith, producer, record, registry, send, turn, useProducer, watch } from "./use-producer.ts";

const NOT_LEADER = 6;
const REQUEST_TIMED_OUT = 7;
const NOT_ENOUGH_REPLICAS = 19;

useProducer();

describe("a partition that cannot be written", () => {
  it.each([NOT_LEADER, NOT_ENOUGH_REPLICAS])(
    "P1: with the code %i is sent again by itself, while the others go on",
    async (code) => {
      brokers.respond = answering((partition) => (partition === 1 ? code : 0));
      const stuck = watch(["b", send("b", 1)]);
      await send("a", 0);
      for (let round = 0; round < 20; round += 1) {
        await send(`${round}`, 2);
        await vi.advanceTimersByTimeAsync(100);
      }
      expect(stuck).toEqual([]);
      expect(brokers.destroyed).toEqual([]);
      brokers.respond = answering(() => 0);
      await vi.advanceTimersByTimeAsync(500);
      expect(stuck).toEqual(["b"]);
      // Growing pauses of 100 to 500 ms, and nothing of the others twice.
      expect(brokers.values.filter((values) => values.includes("b")).length).toBeLessThan(10);
      expect(brokers.values.flat().filter((value) => value === "a")).toEqual(["a"]);
    },
  );

  it("P2: is sent again when its own pause ends, whatever longer pause began meanwhile", async () => {
    openWith(1, 2);
    brokers.respond = answering((partition) => (partition === 1 ? NOT_LEADER : 0));
    void send("long", 1);
    await vi.advanceTimersByTimeAsync(5_000);
    // Its pauses are of half a second by now, and another begins 50 ms after the other partition's pause.
    const refused = Promise.withResolvers<void>();
    const last = brokers.requests.length;
    brokers.respond = async (batches) => {
      await refused.promise;
      return answerFor(batches, () => NOT_LEADER);
    };
    while (brokers.requests.length === last) await vi.advanceTimersByTimeAsync(10);
    brokers.respond = answering(() => NOT_LEADER);
    void send("short", 0);
    await vi.advanceTimersByTimeAsync(50);
    brokers.respond = answering(() => 0);
    refused.resolve();
    await vi.advanceTimersByTimeAsync(60);
    expect(brokers.values.slice(last)).toEqual([["long"], ["short"], ["short"]]);
    await vi.advanceTimersByTimeAsync(500);
    expect(producer.pendingBytes).toBe(0);
  });

  it("P2: is sent what failed before anything that came later", async () => {
    brokers.script.push(answering((partition) => (partition === 1 ? NOT_LEADER : 0)));
    const calls = [send("a", 1)];
    await turn();
    calls.push(send("b", 1), send("c", 1));
    await vi.advanceTimersByTimeAsync(1000);
    await Promise.all(calls);
    expect(brokers.values).toEqual([["a"], ["a"], ["b", "c"]]);
  });

  it("P1: waits without a leader for one, while the others go on", async () => {
    openWith(1, null, 1, 1);
    const stuck = watch(["b", send("b", 1)]);
    await Promise.all([send("a", 0), send("c", 2)]);
    await vi.advanceTimersByTimeAsync(3000);
    expect([stuck, brokers.values]).toEqual([[], [["a", "c"]]]);
    expect(await registry.metrics()).toContain('posthaste_producer_unwritten_partitions{class="test"} 1');
    brokers.leaders[1] = 3;
    await vi.advanceTimersByTimeAsync(1000);
    expect(stuck).toEqual(["b"]);
    expect(brokers.requests.at(-1)).toMatchObject({ nodeId: 3, values: ["b"] });
    expect(await registry.metrics()).toContain('posthaste_producer_unwritten_partitions{class="test"} 0');
  });

  it("P1: goes alone as often as it has to, on connections that close when their request is answered", async () => {
    brokers.respond = answering((partition) => (partition === 1 ? REQUEST_TIMED_OUT : 0));
    const stuck = watch(["b", send("b", 1)]);
    await vi.advanceTimersByTimeAsync(20_000);
    const alone = brokers.requests.slice(1);
    expect(alone.length).toBeGreaterThan(2 * MAX_ASIDE);
    expect(brokers.disconnected).toEqual(alone.map(({ client }) => client));
    brokers.respond = answering(() => 0);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(stuck).toEqual(["b"]);
  });

  it("P1: whose replicas are waited for in vain goes alone on a connection of its own until it succeeds", async () => {
    let isSlow = true;
    brokers.respond = (batches) =>
      isSlow && batches.some(({ partition }) => partition === 1)
        ? new Promise((resolve) => {
            const answer = answerFor(batches, (partition) => (partition === 1 ? REQUEST_TIMED_OUT : 0));
            setTimeout(() => resolve(answer), 8000);
          })
        : Promise.resolve(answerFor(batches));
    const stuck = watch(["b", send("b", 1)]);
    const beside = send("a", 0);
    await vi.advanceTimersByTimeAsync(8000);
    await beside;
    // From here on nobody waits for it, not for a moment.
    const afterMs = performance.now();
    for (let round = 0; round < 100; round += 1) {
      await Promise.all([send("c", 0), send("d", 2)]);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(performance.now() - afterMs).toBe(10_000);
    expect(stuck).toEqual([]);
    const alone = brokers.requests.slice(1).filter(({ partitions }) => partitions.includes(1));
    expect(alone.map(({ values }) => values)).toEqual([["b"], ["b"]]);
    for (const { client } of alone) expect(brokers.requests.filter((each) => each.client === client)).toHaveLength(1);
    isSlow = false;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stuck).toEqual(["b"]);
    await send("e", 1);
    expect(brokers.requests.at(-1)?.client).toBe(brokers.requests.find(({ values }) => values.includes("d"))?.client);
  });

  it("P1: keeps at most so many connections to a broker busy", async () => {
    brokers.respond = never;
    void send("a", 0);
    for (let partition = 1; partition < 4; partition += 1) {
      await vi.advanceTimersByTimeAsync(STUCK_MS);
      void send("b", partition);
    }
    await vi.advanceTimersByTimeAsync(120_000);
    const open = new Set(brokers.requests.map(({ client }) => client)).size - new Set(brokers.destroyed).size;
    expect(open).toBeLessThanOrEqual(MAX_ASIDE + 1);
  });

  it("P3: is one that the answer does not name, and it alone is sent again", async () => {
    brokers.script.push(answering((partition) => (partition === 1 ? undefined : 0)));
    const named = send("a", 0);
    const unnamed = send("b", 1);
    await named;
    await vi.advanceTimersByTimeAsync(100);
    await unnamed;
    expect(brokers.values).toEqual([["a", "b"], ["b"]]);
  });

  it("P3: is every one when the answer is empty", async () => {
    brokers.script.push(async () => []);
    const sent = send("a");
    await vi.advanceTimersByTimeAsync(100);
    await sent;
    expect(brokers.values).toEqual([["a"], ["a"]]);
  });

  it("PT3: has the brokers asked who leads once at a time, however long they are silent", async () => {
    const questions: PromiseWithResolvers<void>[] = [];
    const refresh = () => {
      const question = Promise.withResolvers<void>();
      questions.push(question);
      return question.promise;
    };
    open({ ...brokers.picture, refresh });
    brokers.respond = answering((partition) => (partition < 2 ? NOT_LEADER : 0));
    const settled = watch(["a", send("a", 0)], ["b", send("b", 1)]);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(questions).toHaveLength(1);
    // Questions since then go with the next one, and are sent as soon as it is answered.
    questions[0]?.resolve();
    await turn();
    expect(questions).toHaveLength(2);
    brokers.respond = answering(() => 0);
    questions[1]?.resolve();
    await turn();
    expect(settled.toSorted()).toEqual(["a", "b"]);
  });

  it("has calls without patience refused, and holds up no call to the others", async () => {
    openWith(1, null);
    const stuck = watch(["b", send("b", 1)]);
    await vi.advanceTimersByTimeAsync(200);
    const patience = { patienceMs: 150 };
    const pendingBytes = producer.pendingBytes;
    await expect(producer.send([record("c", 0), record("d", 1)], patience)).rejects.toMatchObject({
      code: "broker_unavailable",
      retryable: true,
    });
    expect(producer.pendingBytes).toBe(pendingBytes);
    await producer.send([record("e", 0)], patience);
    expect([stuck, brokers.values]).toEqual([[], [["e"]]]);
  });
});
