import kafkajs from "kafkajs";
import { describe, expect, it } from "vitest";
import type { PlacedRecord } from "./group-commit.ts";
import type { Broker, Cluster } from "./kafkajs-internals.ts";
import { createSendingClient } from "./sending-client.ts";

/** A cluster of brokers that take everything; `leaders` says who leads which partition of any topic. */
class FakeCluster {
  readonly topics: string[] = [];
  /** Node ids in the order of the requests, with what a broker read of them. */
  readonly requests: { node: string; values: string[] }[] = [];
  readonly #leaders: readonly string[];
  readonly #maxVersion: number;

  constructor(leaders: readonly string[], maxVersion = 7) {
    this.#leaders = leaders;
    this.#maxVersion = maxVersion;
  }

  get cluster(): Cluster {
    const used = {
      connect: async () => {},
      addMultipleTargetTopics: async (topics: readonly string[]) => void this.topics.push(...topics),
      refreshMetadataIfNecessary: async () => {},
      findLeaderForPartitions: (_: string, partitions: readonly number[]) =>
        Object.groupBy(
          partitions.filter((partition) => partition < this.#leaders.length),
          (partition) => this.#leaders[partition] ?? "",
        ),
      findBroker: async ({ nodeId }: { readonly nodeId: string }) => this.#broker(nodeId),
    };
    return used as Partial<Cluster> as Cluster;
  }

  #broker(node: string): Broker {
    const used: Pick<Broker, "lookupRequest" | "connectionPool"> = {
      lookupRequest: (_, definition) => definition.protocol({ version: this.#maxVersion }),
      connectionPool: {
        send: async ({ request }) => {
          const { buffer } = await (request as { encode(): Promise<{ buffer: Buffer }> }).encode();
          const values = buffer.toString("latin1").match(/value-\d/g) ?? [];
          this.requests.push({ node, values });
          const partitions = values.map((value) => ({ partition: Number(value.slice(-1)), errorCode: 0 }));
          return { topics: [{ topicName: "t", partitions }] };
        },
      },
    };
    return used as Broker;
  }
}

const CLIENT = { kafka: new kafkajs.Kafka({ brokers: ["127.0.0.1:1"] }), destroy: () => {} };

const clientOf = ({ cluster }: FakeCluster) => createSendingClient(CLIENT, () => 0, cluster);

function batchOf(...partitions: readonly number[]): ReadonlyMap<string, readonly PlacedRecord[]> {
  const toRecord = (partition: number): PlacedRecord => {
    const value = Buffer.from(`value-${partition}`);
    return { topic: "t", partition, key: null, value, bytes: value.length };
  };
  return new Map([["t", partitions.map(toRecord)]]);
}

describe("a sending client", () => {
  it("sends each leader its partitions in one request and answers for all of them", async () => {
    const fake = new FakeCluster(["1", "2", "1"]);
    const answer = await clientOf(fake).sendBatch(batchOf(0, 1, 2, 0), 1000);
    expect(fake.requests).toEqual([
      { node: "1", values: ["value-0", "value-0", "value-2"] },
      { node: "2", values: ["value-1"] },
    ]);
    expect(answer.map(({ partition }) => partition)).toEqual([0, 0, 2, 1]);
  });

  it("P3: neither sends nor names a partition that it does not know", async () => {
    const fake = new FakeCluster(["1"]);
    const answer = await clientOf(fake).sendBatch(batchOf(0, 1), 1000);
    expect(fake.requests).toEqual([{ node: "1", values: ["value-0"] }]);
    expect(answer).toEqual([{ topicName: "t", partition: 0, errorCode: 0 }]);
  });

  it("names a topic to the cluster once", async () => {
    const fake = new FakeCluster(["1"]);
    const client = clientOf(fake);
    await client.sendBatch(batchOf(0), 1000);
    await client.sendBatch(batchOf(0), 1000);
    expect(fake.topics).toEqual(["t"]);
  });

  it("sends nothing to a broker that knows no record batches", async () => {
    const fake = new FakeCluster(["1"], 2);
    await expect(clientOf(fake).sendBatch(batchOf(0), 1000)).rejects.toMatchObject({ code: "broker_unavailable" });
    expect(fake.requests).toEqual([]);
  });
});
