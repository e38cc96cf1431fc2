/** Rule: PI4 of partition-intake.ts. */
import type { KafkaMessage } from "kafkajs";
import { describe, expect, it } from "vitest";
import { openIntake } from "../../test/open-intake.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";

describe("a record that is taken in", () => {
  it("PI4: shares no memory with what was fetched", () => {
    const taken: IncomingRecord[] = [];
    const { intake } = openIntake({
      take: (record) => {
        taken.push(record);
        return record.offset;
      },
    });
    // As kafkajs hands it over: views of a whole fetch, which a record that waits must not keep.
    const fetched = Buffer.alloc(19, "-key-value-one-two-");
    const [key, value, one, two] = [
      fetched.subarray(1, 4),
      fetched.subarray(5, 10),
      fetched.subarray(11, 14),
      fetched.subarray(15, 18),
    ];
    const message = { offset: "0", timestamp: "0", attributes: 0, key, value, headers: { one, both: [one, two] } };
    intake.accept({ messages: [message], fetchedFrom: 0, lastOffset: 0, endOffset: 1 });
    fetched.fill("x");
    const [record] = taken;
    expect([String(record?.key), String(record?.value)]).toEqual(["key", "value"]);
    expect(record?.headers).toEqual({ one: "one", both: ["one", "two"] });
    for (const bytes of [record?.key, record?.value]) expect(bytes?.buffer).not.toBe(fetched.buffer);
  });

  it("PI4: may be without headers, and a header is left out that has no value", () => {
    const taken: IncomingRecord[] = [];
    const { intake } = openIntake({
      take: (record) => {
        taken.push(record);
        return record.offset;
      },
    });
    const message = (offset: number, headers?: object) =>
      ({ offset: String(offset), timestamp: "1", key: null, value: null, attributes: 0, headers }) as KafkaMessage;
    const messages = [message(0), message(1, {}), message(2, { none: undefined, some: Buffer.from("x") })];
    intake.accept({ messages, fetchedFrom: 0, lastOffset: 2, endOffset: 3 });
    expect(taken.map(({ headers }) => headers)).toEqual([{}, {}, { some: "x" }]);
    expect(taken[0]?.headers).toBe(taken[1]?.headers);
  });
});
