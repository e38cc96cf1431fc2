import { int16, int32, int64, text } from "@posthaste/testkit/kafka-bytes";
import { expect, it } from "vitest";
import { sumOfOffsets } from "./kafka-wire.ts";

/** One topic of an answer to OffsetFetch, version 2: the committed offset of each of its partitions, from 0. */
function topic(name: string, ...offsets: readonly number[]): Buffer {
  const partitions = offsets.map((offset, partition) =>
    Buffer.concat([int32(partition), int64(offset), text("metadata"), int16(0)]),
  );
  return Buffer.concat([text(name), int32(offsets.length), ...partitions]);
}

function answer(topics: readonly Buffer[], errorCode = 0): Buffer {
  return Buffer.concat([int32(topics.length), ...topics, int16(errorCode)]);
}

it("adds up the committed offsets of every topic and partition", () => {
  expect(sumOfOffsets(answer([]))).toBe(0);
  expect(sumOfOffsets(answer([topic("a", 5, 7), topic("b", 100)]))).toBe(112);
});

it("counts a partition once that the answer names twice", () => {
  expect(sumOfOffsets(answer([topic("a", 5, 7), topic("a", 5, 7)]))).toBe(12);
});

it("throws on an answer with an error", () => {
  expect(() => sumOfOffsets(answer([], 16))).toThrow("OffsetFetch answered error 16");
});
