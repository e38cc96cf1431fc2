import { PosthasteError } from "@posthaste/core/errors";
import { SILENT_LOG } from "@posthaste/core/log";
import { describe, expect, it } from "vitest";
import type { OutgoingRecord } from "./producer.ts";
import { UnreadableRecords } from "./unreadable-records.ts";

const error = new PosthasteError("invalid_input", "no value of it");
const record = {
  ...{ topic: "events", partition: 3, offset: 41, timestampMs: 1 },
  ...{ key: Buffer.from("k"), value: Buffer.from("rubbish"), headers: { note: ["a", "b"], gone: undefined } },
};
const ours = {
  ...{ "unreadable-topic": "events", "unreadable-partition": "3", "unreadable-offset": "41" },
  ...{ "unreadable-reason": "not_framed", "unreadable-error": "no value of it", "unreadable-at-ms": "7" },
  "unreadable-by": "router",
};

/** The records sent, where the brokers take all records that `refuses` does not name. */
function open(refuses: (record: OutgoingRecord) => PosthasteError | null) {
  const sent: OutgoingRecord[] = [];
  const send = async (records: readonly OutgoingRecord[]) => {
    for (const each of records) {
      const refusal = refuses(each);
      if (refusal !== null) throw refusal;
      sent.push(each);
    }
  };
  const connection = { log: SILENT_LOG, metrics: undefined };
  const options = { connection, producer: { send }, topic: "unreadable", from: ["events"], by: "router" };
  return { sent, records: new UnreadableRecords({ ...options, nowMs: () => 7 }) };
}

describe("a record that is quarantined", () => {
  it("keeps its key, its value and its headers, and gets its place and why beside them", async () => {
    const { sent, records } = open(() => null);
    await records.put(record, error);
    const { key, value } = record;
    expect(sent).toEqual([{ topic: "unreadable", key, value, headers: { note: ["a", "b"], ...ours } }]);
  });

  it("UN2: goes without its value where it is too large with these headers", async () => {
    const { sent, records } = open(({ value }) =>
      value === null ? null : new PosthasteError("invalid_input", "a record of too many bytes"),
    );
    await records.put(record, error);
    const headers = { ...ours, "unreadable-value-left-out": "true" };
    expect(sent).toEqual([{ topic: "unreadable", key: null, value: null, headers }]);
  });

  it("UN1: is not taken for quarantined when the producer was closed", async () => {
    const closed = new PosthasteError("closed", "the producer is closed");
    const { sent, records } = open(() => closed);
    await expect(records.put(record, error)).rejects.toBe(closed);
    expect(sent).toEqual([]);
  });
});
