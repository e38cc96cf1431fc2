import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeProduceRequest } from "./produce-request.ts";
import type { BatchRecord } from "./record-batch.ts";

const require = createRequire(import.meta.url);

const NOW_MS = 1_763_695_457_269;

interface KafkajsTopic {
  readonly topic: string;
  readonly partitions: readonly {
    readonly partition: number;
    readonly firstSequence: number;
    readonly messages: readonly (BatchRecord & { readonly timestamp: string })[];
  }[];
}

/** kafkajs's own body, with the settings that its producer without idempotence gives. */
async function encodeByKafkajs(version: number, topicData: readonly KafkajsTopic[]): Promise<string> {
  const createRequest = require(`kafkajs/src/protocol/requests/produce/v${version}/request.js`);
  const settings = { acks: -1, timeout: 30_000, transactionalId: undefined, producerId: -1, producerEpoch: 0 };
  const { buffer } = await createRequest({ ...settings, compression: 0, topicData }).encode();
  return buffer.toString("hex");
}

const bytes = fc
  .oneof(
    { weight: 8, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(8_191, 8_192, 70_000).map((length) => new Uint8Array(length).fill(length)),
    },
  )
  .map((array) => Buffer.from(array));

const text = fc.string({ maxLength: 100, unit: "binary" });
/** As a record that was read may have them: bytes that are no text, and a name that is repeated. */
const header = fc.oneof(text, bytes, fc.array(fc.oneof(text, bytes), { minLength: 1, maxLength: 3 }));

const record: fc.Arbitrary<BatchRecord> = fc.record(
  {
    key: fc.option(bytes),
    value: fc.option(bytes),
    headers: fc.dictionary(fc.string({ maxLength: 20, unit: "binary" }), header, {
      maxKeys: 4,
    }),
  },
  { requiredKeys: ["key", "value"] },
);

const topics = fc.uniqueArray(
  fc.record({
    topic: fc.string({ minLength: 1, maxLength: 20 }),
    partitions: fc.uniqueArray(fc.tuple(fc.nat(100), fc.array(record, { minLength: 1, maxLength: 70 })), {
      minLength: 1,
      maxLength: 3,
      selector: ([partition]) => partition,
    }),
  }),
  { maxLength: 3, selector: ({ topic }) => topic },
);

function toKafkajsTopic({ topic, partitions }: { topic: string; partitions: [number, BatchRecord[]][] }): KafkajsTopic {
  return {
    topic,
    partitions: partitions.map(([partition, records]) => ({
      partition,
      firstSequence: 0,
      messages: records.map((each) => ({ ...each, timestamp: String(NOW_MS) })),
    })),
  };
}

describe("a produce request", () => {
  it.each([3, 7])("is what kafkajs writes as version %i, for any records", async (version) => {
    const property = fc.asyncProperty(topics, async (given) => {
      const request = {
        topics: given.map(({ topic, partitions }) => ({ topic, partitions: new Map(partitions) })),
        timeoutMs: 30_000,
        nowMs: NOW_MS,
      };
      expect(encodeProduceRequest(request).toString("hex")).toBe(
        await encodeByKafkajs(version, given.map(toKafkajsTopic)),
      );
    });
    await fc.assert(property, { numRuns: 100 });
  });

  it("counts text that is no Unicode as it writes it", async () => {
    const headers = { "\ud800": "\udc00 half a character" };
    const records: BatchRecord[] = [{ key: null, value: Buffer.from("value"), headers }];
    const request = { topics: [{ topic: "t", partitions: new Map([[0, records]]) }], timeoutMs: 30_000, nowMs: NOW_MS };
    const expected = await encodeByKafkajs(7, [toKafkajsTopic({ topic: "t", partitions: [[0, records]] })]);
    expect(encodeProduceRequest(request).toString("hex")).toBe(expected);
  });

  it("P4: asks for the acknowledgement of all in-sync replicas", () => {
    const request = encodeProduceRequest({ topics: [], timeoutMs: 1, nowMs: NOW_MS });
    expect(request.readInt16BE(2)).toBe(-1);
  });
});
