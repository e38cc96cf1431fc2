import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DecodeBatch, decodeBatch, decodeLazily } from "./lazy-decoding.ts";

const require = createRequire(import.meta.url);
const RecordBatch = require("kafkajs/src/protocol/recordBatch/v0/index.js").RecordBatch;
const encodeRecord = require("kafkajs/src/protocol/recordBatch/record/v0/index.js");
const Decoder = require("kafkajs/src/protocol/decoder.js");
const decodeByKafkajs: DecodeBatch = require("kafkajs/src/protocol/recordBatch/v0/decoder.js");

const GZIP = 1;
/** Where a batch's attributes stand: behind the first offset, length, leader epoch, magic and checksum. */
const ATTRIBUTES_AT = 8 + 4 + 4 + 1 + 4;
const APPEND_TIME_FLAG = 0x8;
const CONTROL_FLAG = 0x20;

const bytes = fc.option(fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)));
const headerValue = fc.string({ maxLength: 30, unit: "binary" });
const aBatch = fc.record({
  firstOffset: fc.nat(2 ** 40),
  firstTimestamp: fc.integer({ min: 0, max: 2 ** 42 }),
  compression: fc.constantFrom(0, GZIP),
  flags: fc.constantFrom(0, APPEND_TIME_FLAG, CONTROL_FLAG),
  records: fc.array(
    fc.record({
      key: bytes,
      value: bytes,
      timestampDelta: fc.integer({ min: -(2 ** 41), max: 2 ** 41 }),
      gap: fc.oneof(fc.constant(0), fc.nat(2 ** 21)),
      headers: fc.dictionary(
        fc.string({ minLength: 1, maxLength: 20 }).filter((name) => !(name in {})),
        fc.oneof(headerValue, fc.array(headerValue, { minLength: 1, maxLength: 3 })),
        { maxKeys: 4 },
      ),
    }),
    { minLength: 1, maxLength: 30 },
  ),
});

async function encode({ records, firstOffset, firstTimestamp, compression, flags }: BatchOf): Promise<Buffer> {
  let offsetDelta = -1;
  const encoded = records.map(({ gap, ...record }) => {
    offsetDelta += 1 + gap;
    return encodeRecord({ ...record, offsetDelta });
  });
  const lastOffsetDelta = offsetDelta;
  const maxTimestamp = firstTimestamp + 7;
  const times = { firstOffset, firstTimestamp, maxTimestamp, lastOffsetDelta };
  const { buffer } = await RecordBatch({ ...times, compression, records: encoded });
  buffer.writeInt16BE(buffer.readInt16BE(ATTRIBUTES_AT) | flags, ATTRIBUTES_AT);
  return buffer;
}

type BatchOf = typeof aBatch extends fc.Arbitrary<infer T> ? T : never;

async function decodeWith(decode: DecodeBatch, buffer: Buffer) {
  const { records, ...context } = await decode(new Decoder(buffer));
  const shown = records.map(({ offset, timestamp, key, value, headers, isControlRecord, magicByte, attributes }) => ({
    ...{ offset, timestamp, isControlRecord, magicByte, attributes },
    ...{ key: key?.toString("hex"), value: value?.toString("hex"), headers: JSON.stringify(headers) },
  }));
  return { shown, context };
}

describe("decodeBatch", () => {
  it("reads of every batch what kafkajs's decoder reads", async () => {
    await fc.assert(
      fc.asyncProperty(aBatch, async (batch) => {
        const buffer = await encode(batch);
        const { shown, context } = await decodeWith(decodeBatch, buffer);
        const expected = await decodeWith(decodeByKafkajs, buffer);
        expect(shown).toEqual(expected.shown);
        expect(context).toMatchObject(expected.context);
      }),
    );
  });

  it("leaves headers without a value out, and takes every name for one of a header", async () => {
    const given = [
      ["__proto__", "ours"],
      ["toString", "ours too"],
      ["none", ""],
    ];
    const record = encodeRecord({ key: null, value: null, headers: Object.fromEntries(given) });
    const { buffer } = await RecordBatch({ firstTimestamp: 0, maxTimestamp: 0, records: [record] });
    // The length of the last header's value, which is no value then.
    buffer[buffer.length - 1] = 1;
    const { records } = await decodeBatch(new Decoder(buffer));
    const read = Object.entries(records[0]?.headers ?? {}).map(([name, value]) => [name, String(value)]);
    expect(read).toEqual(given.slice(0, 2));
  });

  it("takes the beginning of a batch that is not all there for nothing, as kafkajs knows it", async () => {
    const [batch] = fc.sample(aBatch, 1);
    if (batch === undefined) throw new Error("no batch was drawn");
    const buffer = await encode(batch);
    const failure = decodeBatch(new Decoder(buffer.subarray(0, buffer.length - 1)));
    await expect(failure).rejects.toMatchObject({ name: "KafkaJSPartialMessageError" });
  });

  it("refuses bytes that are no records, saying where they stand", async () => {
    const buffer = await encode({
      firstOffset: 41,
      firstTimestamp: 0,
      compression: 0,
      flags: 0,
      records: [{ key: null, value: Buffer.from("value"), timestampDelta: 0, gap: 0, headers: {} }],
    });
    buffer.fill(0xff, buffer.length - 8);
    await expect(decodeBatch(new Decoder(buffer))).rejects.toThrow("the batch at offset 41 is no batch of records");
  });
});

it("replaces kafkajs's decoder once for the process, and says so when that comes too late", () => {
  decodeLazily();
  decodeLazily();
  const path = require.resolve("kafkajs/src/protocol/recordBatch/v0/decoder.js");
  expect(require(path)).toBe(decodeBatch);
  require("kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js");
  const taken = require.cache[path];
  if (taken === undefined) throw new Error("kafkajs's decoder is not loaded");
  taken.exports = decodeByKafkajs;
  expect(decodeLazily).toThrow("before it could be replaced");
});
