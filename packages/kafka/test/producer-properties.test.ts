import { SILENT_LOG } from "@posthaste/core/log";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { PartitionAnswer } from "../src/kafkajs/kafkajs-internals.ts";
import type { PartitionBatch } from "../src/producer/partition-queue.ts";
import { GroupCommitProducer } from "../src/producer/producer.ts";
import { answerFor, FakeBrokers, PARTITIONS } from "./fake-brokers.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The fate of a batch and of its partition's answer. */
const fate = fc.constantFrom("written", "written", "written", "refused by an error", "written and unnamed", "lost");
/** The fate of a request as a whole. */
const requestFate = fc.record({
  partitions: fc.tuple(fate, fate, fate, fate),
  answer: fc.constantFrom("comes", "comes", "comes", "comes late", "connection cut", "never", "never, written late"),
  leader: fc.record({ partition: fc.nat(PARTITIONS - 1), nodeId: fc.constantFrom(1, 2, null) }),
});
type RequestFate = typeof requestFate extends fc.Arbitrary<infer T> ? T : never;

const call = fc.record({
  afterMs: fc.constantFrom(0, 0, 5, 300, 2000),
  partitions: fc.array(fc.nat(PARTITIONS - 1), { minLength: 1, maxLength: 4 }),
});

/** Brokers whose logs are looked at in the end. */
class LoggingBrokers extends FakeBrokers {
  readonly logs = Array.from({ length: PARTITIONS }, (): string[] => []);
  /** Partitions that have a batch out, which the producer still waits for. */
  readonly out = new Set<number>();
  secondBatches = 0;
  readonly fates: RequestFate[];
  /** The effect of a connection's destruction on its request. */
  readonly #ends = new Map<number, () => void>();

  constructor(fates: readonly RequestFate[]) {
    super();
    this.fates = [...fates];
    this.respond = (batches) => this.take(batches);
    this.onDestroyed = (client) => this.#ends.get(client)?.();
  }

  async take(batches: readonly PartitionBatch[]): Promise<readonly PartitionAnswer[]> {
    const client = this.requests.at(-1)?.client ?? -1;
    for (const { partition } of batches) {
      // P1: a sender of a second batch gave the first one up, with its connection.
      if (this.out.has(partition)) this.secondBatches += 1;
      this.out.add(partition);
    }
    const next = this.fates.shift();
    try {
      return await Promise.race([this.#meet(batches, next), this.#untilDestroyed(client)]);
    } finally {
      for (const { partition } of batches) this.out.delete(partition);
    }
  }

  async #meet(batches: readonly PartitionBatch[], next: RequestFate | undefined): Promise<readonly PartitionAnswer[]> {
    if (next === undefined) {
      for (const batch of batches) this.#write(batch);
      return answerFor(batches);
    }
    this.leaders[next.leader.partition] = next.leader.nodeId;
    if (next.answer === "never, written late") {
      setTimeout(() => {
        for (const batch of batches) this.#write(batch);
      }, 15_000);
      return new Promise(() => {});
    }
    const codeOf = new Map<number, number | undefined>();
    for (const batch of batches) {
      const fate = next.partitions[batch.partition];
      if (fate?.startsWith("written")) this.#write(batch);
      codeOf.set(batch.partition, fate === "written" ? 0 : fate === "refused by an error" ? 19 : undefined);
    }
    if (next.answer === "connection cut") throw new Error("the connection was cut");
    if (next.answer === "never") return new Promise(() => {});
    if (next.answer === "comes late") await new Promise((resolve) => setTimeout(resolve, 3000));
    return answerFor(batches, (partition) => codeOf.get(partition));
  }

  #write({ partition, records }: PartitionBatch): void {
    this.logs[partition]?.push(...records.map(({ value }) => String(value)));
  }

  #untilDestroyed(client: number): Promise<never> {
    return new Promise((_, reject) => {
      this.#ends.set(client, () => reject(new Error("destroyed")));
    });
  }
}

it("P1, P2, P3: each record is written in its partition's order but for repeats, one batch at a time", async () => {
  const property = fc.asyncProperty(
    fc.array(call, { minLength: 1, maxLength: 25 }),
    fc.array(requestFate, { maxLength: 25 }),
    async (calls, fates) => {
      const brokers = new LoggingBrokers(fates);
      const producer = new GroupCommitProducer({
        name: "test",
        topics: ["t"],
        connection: { log: SILENT_LOG, metrics: undefined },
        makeClient: brokers.makeClient,
        leaders: brokers.picture,
      });
      const given = Array.from({ length: PARTITIONS }, (): string[] => []);
      let count = 0;
      const sent: Promise<void>[] = [];
      for (const { afterMs, partitions } of calls) {
        await vi.advanceTimersByTimeAsync(afterMs);
        const records = partitions.map((partition) => {
          const value = String(count++);
          given[partition]?.push(value);
          return { topic: "t", key: null, value: Buffer.from(value), partition };
        });
        sent.push(producer.send(records));
      }
      let isDone = false;
      const done = Promise.all(sent).then(() => {
        isDone = true;
      });
      for (let round = 0; round < 100 && !isDone; round += 1) {
        await vi.advanceTimersByTimeAsync(5000);
        // In the end all is well: a partition may have lost its leader for good by then.
        if (round > 20) brokers.fates.length = 0;
        if (brokers.fates.length === 0) brokers.leaders.fill(1);
      }
      expect(isDone).toBe(true);
      await done;
      // A batch that was given up may still be written.
      await vi.advanceTimersByTimeAsync(20_000);
      expect(brokers.logs.map((log) => [...new Set(log)])).toEqual(given);
      expect([producer.pendingBytes, brokers.secondBatches]).toEqual([0, 0]);
      await producer.close();
    },
  );
  await fc.assert(property, { numRuns: 1000 });
  // A thousand runs take 13 s of processor time, and nine times that where other files have the cores.
}, 600_000);
