import { describe, expect, it } from "vitest";
import type { FetchedMessage } from "../kafkajs/kafkajs-internals.ts";
import { readFetched } from "./fetched-records.ts";

const NO_RECORDS: readonly FetchedMessage[] = [];

/** Records of one batch that began at `firstOffset` with so many offsets. */
function batch(
  firstOffset: number,
  count: number,
  offsets: readonly number[],
  isControlRecord = false,
): FetchedMessage[] {
  return offsets.map((offset) => ({
    offset: String(offset),
    timestamp: "1700000000000",
    key: Buffer.from("k"),
    value: Buffer.from(String(offset)),
    headers: {},
    isControlRecord,
    batchContext: { firstOffset: String(firstOffset), lastOffsetDelta: count - 1 },
  }));
}

function read(messages: readonly FetchedMessage[], position: number, highWatermark = 100) {
  const { records, next } = readFetched(
    "t",
    { partition: 3, highWatermark: String(highWatermark), messages },
    position,
  );
  return { offsets: records.map(({ offset }) => offset), next };
}

describe("what a fetch brought", () => {
  it("is the records from the position on, and the offset after them", () => {
    expect(read(batch(10, 4, [10, 11, 12, 13]), 12)).toEqual({ offsets: [12, 13], next: 14 });
  });

  it("goes past offsets at a batch's end that compaction took (C9)", () => {
    expect(read(batch(10, 4, [10, 11]), 10)).toEqual({ offsets: [10, 11], next: 14 });
    expect(read(batch(10, 4, [10, 11]), 12)).toEqual({ offsets: [], next: 14 });
  });

  it("goes past markers without handing them over", () => {
    expect(read(batch(10, 1, [10], true), 10)).toEqual({ offsets: [], next: 11 });
  });

  it("goes one step on when nothing stands at a position below the end, and waits at the end", () => {
    expect(read(NO_RECORDS, 10, 20)).toEqual({ offsets: [], next: 11 });
    expect(read(NO_RECORDS, 20, 20)).toEqual({ offsets: [], next: 20 });
  });

  it("carries topic, partition, time, key and value over", () => {
    const { records } = readFetched("t", { partition: 3, highWatermark: "1", messages: batch(0, 1, [0]) }, 0);
    expect(records).toEqual([
      {
        topic: "t",
        partition: 3,
        offset: 0,
        timestampMs: 1_700_000_000_000,
        key: Buffer.from("k"),
        value: Buffer.from("0"),
        headers: {},
      },
    ]);
  });
});
