import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EncoderClass, growEncodersLazily } from "./encoder-growth.ts";

const require = createRequire(import.meta.url);

/** As much of kafkajs's encoding as a produce request takes. */
interface Protocol {
  readonly Encoder: EncoderClass;
  readonly produce: (request: unknown) => unknown;
  readonly createRequest: (request: unknown) => Promise<{ readonly buffer: Buffer }>;
}

/** kafkajs's protocol modules, loaded anew: each call has an Encoder class of its own. */
function loadProtocol(): Protocol {
  for (const path of Object.keys(require.cache)) if (path.includes("/kafkajs/")) delete require.cache[path];
  return {
    Encoder: require("kafkajs/src/protocol/encoder.js"),
    produce: require("kafkajs/src/protocol/requests/produce/v7/request.js"),
    createRequest: require("kafkajs/src/protocol/request.js"),
  };
}

async function encode({ produce, createRequest }: Protocol, partitions: readonly unknown[]): Promise<string> {
  const topicData = [{ topic: "t", partitions }];
  const request = produce({
    acks: -1,
    timeout: 1,
    transactionalId: null,
    producerId: -1,
    producerEpoch: 0,
    compression: 0,
    topicData,
  });
  const { buffer } = await createRequest({ request, correlationId: 1, clientId: "c" });
  return buffer.toString("hex");
}

describe("encoders that grow lazily", () => {
  const original = loadProtocol();
  const lazy = loadProtocol();
  growEncodersLazily(lazy.Encoder);

  it("replace parts that this version of kafkajs has", () => {
    expect(lazy.Encoder).not.toBe(original.Encoder);
    expect(original.Encoder.nextPowerOfTwo(511)).toBe(512);
    expect(original.Encoder.prototype.ensureAvailable).toBeTypeOf("function");
  });

  it("write the bytes that kafkajs's own write, for any records", async () => {
    const bytes = fc
      .oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ minLength: 400, maxLength: 3000 }))
      .map((array) => Buffer.from(array));
    const message = fc.record({
      key: fc.option(bytes),
      value: fc.option(bytes),
      headers: fc.dictionary(fc.string({ maxLength: 20 }), fc.string({ maxLength: 700 }), { maxKeys: 4 }),
      timestamp: fc.constant("1700000000000"),
    });
    const partition = fc.record({
      partition: fc.nat(50),
      firstSequence: fc.constant(0),
      messages: fc.array(message, { minLength: 1, maxLength: 8 }),
    });
    const property = fc.asyncProperty(fc.array(partition, { minLength: 1, maxLength: 4 }), async (partitions) => {
      expect(await encode(lazy, partitions)).toBe(await encode(original, partitions));
    });
    await fc.assert(property, { numRuns: 200 });
  });
});
