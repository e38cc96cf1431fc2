import { REVISION_HEADER } from "@posthaste/contracts/headers";
import { SILENT_LOG } from "@posthaste/core/log";
import { expect, it, vi } from "vitest";
import type { KafkaConnection } from "../connection/connect.ts";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import type { LogReaderOptions } from "./log-reader.ts";
import { createTable } from "./table.ts";

/** The table's way to take records. */
const reader = vi.hoisted((): { onRecords: LogReaderOptions["onRecords"] } => ({ onRecords: () => {} }));

vi.mock("./log-reader.ts", () => ({
  followLog: async (_connection: KafkaConnection, { onRecords }: LogReaderOptions) => {
    reader.onRecords = onRecords;
    return { position: 0, reached: async () => {}, close: async () => {} };
  },
}));
vi.mock("../connection/topic-offsets.ts", () => ({ endOffset: async () => 0 }));

function aRecord(offset: number, value: string | null, revision: number): IncomingRecord {
  return {
    ...{ topic: "table", partition: 0, offset, timestampMs: 0 },
    key: Buffer.from("a"),
    value: value === null ? null : Buffer.from(value),
    headers: { [REVISION_HEADER]: String(revision) },
  };
}

it("T2: removes a key by its tombstone, says so, and keeps the revision against a late write", async () => {
  const changes: unknown[] = [];
  const table = await createTable<string>({ metrics: undefined, log: SILENT_LOG } as unknown as KafkaConnection, {
    topic: "table",
    decode: String,
    onChange: (key, value, { offset }) => changes.push([key, value, offset]),
  });
  await reader.onRecords([aRecord(0, "held", 1), aRecord(1, null, 2), aRecord(2, "late", 1)]);
  expect(table.get("a")).toBeUndefined();
  expect([...table.entries()]).toEqual([]);
  expect(table.size).toBe(0);
  expect(table.revisionOf("a")).toBe(2);
  expect(table.appliedOffset).toBe(2);
  expect(changes).toEqual([
    ["a", "held", 0],
    ["a", undefined, 1],
  ]);
});
