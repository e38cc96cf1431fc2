import kafkajs from "kafkajs";
import { describe, expect, it } from "vitest";
import type { Broker } from "../kafkajs/kafkajs-internals.ts";
import { createBrokerClient } from "./broker-client.ts";
import type { PartitionBatch } from "./partition-queue.ts";

interface FakeBrokerOptions {
  readonly maxVersion?: number;
  /** Kafka's codes by partition; 0 where there is none. */
  readonly codes?: readonly number[];
}

/** A broker that answers every request. */
class FakeBroker {
  /** The topics and values of each request, as they stand in its body. */
  readonly requests: string[][] = [];
  connects = 0;
  isConnected = false;
  readonly #options: FakeBrokerOptions;

  constructor(options: FakeBrokerOptions = {}) {
    this.#options = options;
  }

  get broker(): Broker {
    const { maxVersion = 7, codes = [] } = this.#options;
    const used: Pick<Broker, "isConnected" | "connect" | "lookupRequest" | "connectionPool"> = {
      isConnected: () => this.isConnected,
      connect: async () => {
        this.connects += 1;
        this.isConnected = true;
      },
      lookupRequest: (_, definition) => definition.protocol({ version: maxVersion }),
      connectionPool: {
        send: async ({ request, response }) => {
          const { buffer } = await (request as { encode(): Promise<{ buffer: Buffer }> }).encode();
          const found = buffer.toString("latin1").match(/topic-\w|value-\d/g) ?? [];
          this.requests.push(found);
          const partitions = found
            .filter((each) => each.startsWith("value"))
            .map((value) => Number(value.slice(-1)))
            .map((partition) => ({ partition, errorCode: codes[partition] ?? 0 }));
          const { parse } = response as { parse(answer: object): Promise<object> };
          return parse({ topics: [{ topicName: "topic-a", partitions }] });
        },
      },
    };
    return used as Broker;
  }
}

const CLIENT = { kafka: new kafkajs.Kafka({ brokers: ["127.0.0.1:1"] }), destroy: () => {} };

const clientOf = ({ broker }: FakeBroker) =>
  createBrokerClient(
    CLIENT,
    async () => broker,
    () => 0,
  );

function batch(partition: number, topic = "topic-a"): PartitionBatch {
  const value = Buffer.from(`value-${partition}`);
  return { topic, partition, records: [{ topic, partition, key: null, value, bytes: 1 }], bytes: 1 };
}

describe("a broker's client", () => {
  it("sends all that it is given in one request, by topic", async () => {
    const fake = new FakeBroker();
    const client = clientOf(fake);
    await client.connect();
    await client.send([batch(0), batch(2, "topic-b"), batch(1)], 1000);
    expect(fake.requests).toEqual([["topic-a", "value-0", "value-1", "topic-b", "value-2"]]);
  });

  it("tells what every partition came to, those that were written beside one that was not", async () => {
    const fake = new FakeBroker({ codes: [0, 19, 0] });
    const client = clientOf(fake);
    await client.connect();
    const answer = await client.send([batch(0), batch(1), batch(2)], 1000);
    expect(answer.map(({ partition, errorCode }) => [partition, errorCode])).toEqual([
      [0, 0],
      [1, 19],
      [2, 0],
    ]);
  });

  it("makes values when they are sent, and again when they are sent again", async () => {
    const fake = new FakeBroker();
    const client = clientOf(fake);
    await client.connect();
    let made = 0;
    const make = () => {
      made += 1;
      return Buffer.from("value-3");
    };
    const { records, ...rest } = batch(3);
    const late = { ...rest, records: records.map((record) => ({ ...record, value: { length: 7, make } })) };
    expect(made).toBe(0);
    await client.send([late], 1000);
    await client.send([late], 1000);
    expect([made, fake.requests]).toEqual([
      2,
      [
        ["topic-a", "value-3"],
        ["topic-a", "value-3"],
      ],
    ]);
  });

  it("GC5: sends the other partitions when a value cannot be made, which counts as a refused record", async () => {
    const fake = new FakeBroker();
    const client = clientOf(fake);
    await client.connect();
    const make = () => {
      throw new Error("a value does not fit its schema");
    };
    const { records, ...rest } = batch(1);
    const bad = { ...rest, records: records.map((record) => ({ ...record, value: { length: 7, make } })) };
    const answers = await client.send([batch(0), bad], 1000);
    expect(answers.map(({ partition, errorCode }) => [partition, errorCode])).toEqual([
      [0, 0],
      [1, 87],
    ]);
    expect(fake.requests).toEqual([["topic-a", "value-0"]]);
    expect(await client.send([bad], 1000)).toMatchObject([{ partition: 1, errorCode: 87 }]);
    expect(fake.requests).toHaveLength(1);
  });

  it("connects once, and again when its connection was lost", async () => {
    const fake = new FakeBroker();
    const client = clientOf(fake);
    await client.connect();
    expect(client.connect()).toBeUndefined();
    fake.isConnected = false;
    await client.connect();
    expect(fake.connects).toBe(2);
  });

  it("sends nothing to a broker that knows no record batches", async () => {
    const fake = new FakeBroker({ maxVersion: 2 });
    const client = clientOf(fake);
    await client.connect();
    await expect(client.send([batch(0)], 1000)).rejects.toMatchObject({ code: "broker_unavailable" });
    expect(fake.requests).toEqual([]);
  });
});
