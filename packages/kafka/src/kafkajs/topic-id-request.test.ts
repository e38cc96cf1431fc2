import { describe, expect, it } from "vitest";
import { decodeTopicIdAnswer, encodeTopicIdRequest } from "./topic-id-request.ts";

const ID = Buffer.from("00112233445566778899aabbccddeeff", "hex");
const compact = (text: string) => Buffer.concat([Buffer.of(text.length + 1), Buffer.from(text)]);
/** One tagged field, as a later Kafka may send it: tag 3 of two bytes. */
const TAGS = Buffer.of(1, 3, 2, 0xaa, 0xbb);
const INT32 = Buffer.from([0, 0, 0, 7]);
const ints = (count: number) => Buffer.concat([Buffer.of(count + 1), ...Array.from({ length: count }, () => INT32)]);

function answer(id: Buffer): Buffer {
  const broker = Buffer.concat([INT32, compact("host"), INT32, Buffer.of(0), TAGS]);
  const head = Buffer.concat([Buffer.of(0, 1), INT32, INT32, INT32, ints(2), ints(1), ints(0)]);
  const partition = Buffer.concat([head, TAGS]);
  const topic = Buffer.concat([
    Buffer.of(0, 3),
    compact("t"),
    id,
    Buffer.of(0),
    Buffer.of(3),
    partition,
    partition,
    INT32,
    TAGS,
  ]);
  return Buffer.concat([
    TAGS,
    INT32,
    Buffer.of(2),
    broker,
    compact("cluster"),
    INT32,
    Buffer.of(2),
    topic,
    INT32,
    TAGS,
  ]);
}

describe("the request for a topic's id", () => {
  it("has a length of one byte or two before the name", () => {
    expect(encodeTopicIdRequest(["t".repeat(126)])[18]).toBe(127);
    expect([...encodeTopicIdRequest(["t".repeat(200)]).subarray(18, 20)]).toEqual([0x80 | 73, 1]);
  });

  it("is answered with the id as Kafka writes it, past tagged fields that nobody knows", () => {
    const read = decodeTopicIdAnswer(answer(ID));
    expect(read).toEqual([{ name: "t", errorCode: 3, topicId: "ABEiM0RVZneImaq7zN3u_w" }]);
  });

  it("is answered without an id by a cluster that has none", () => {
    expect(decodeTopicIdAnswer(answer(Buffer.alloc(16)))[0]?.topicId).toBeNull();
  });

  it("is refused wherever the answer ends early", () => {
    const whole = answer(ID);
    // Behind the topics nothing is read any more.
    for (let length = 0; length < whole.length - 5 - 4; length += 1) {
      expect(() => decodeTopicIdAnswer(whole.subarray(0, length))).toThrow("ends early");
    }
  });
});
