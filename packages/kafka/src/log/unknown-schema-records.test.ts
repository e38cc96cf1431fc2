import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@posthaste/testkit/eventually";
import { expect, it } from "vitest";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import { UnknownSchemaRecords } from "./unknown-schema-records.ts";

const unexpected = (reason: Error) => {
  throw reason;
};

const place = { topic: "config", partition: 0, offset: 3, timestampMs: 0 };

it("UR3: keeps bytes of its own, and so nothing of the fetch that a record came with", async () => {
  const fetch = Buffer.alloc(1024 * 1024);
  const value = fetch.subarray(1000, 1010);
  const headers = { revision: fetch.subarray(2000, 2001) };
  const known: IncomingRecord[] = [];
  const records = new UnknownSchemaRecords({
    prefetch: () => undefined,
    onKnown: (record) => known.push(record),
    onFailure: unexpected,
    roundMs: 1,
  });
  records.add("a", { ...place, key: fetch.subarray(0, 1), value, headers }, 5);
  await eventually(() => expect(known).toHaveLength(1));
  records.close();
  expect(known[0]).toMatchObject({
    ...place,
    key: Buffer.alloc(1),
    value: Buffer.alloc(10),
    headers: { revision: "5" },
  });
  for (const bytes of [known[0]?.key, known[0]?.value]) expect(bytes?.buffer).not.toBe(fetch.buffer);
});

it.each(["prefetch", "onKnown"] as const)("says once, and asks no more, where %s fails with a bug", async (part) => {
  const bug = new TypeError("a bug");
  const failures: Error[] = [];
  let asked = 0;
  const records = new UnknownSchemaRecords({
    prefetch: async () => {
      asked += 1;
      if (part === "prefetch") throw bug;
    },
    onKnown: () => {
      throw bug;
    },
    onFailure: (reason) => failures.push(reason),
    roundMs: 1,
  });
  const record = { ...place, key: Buffer.from("a"), value: Buffer.alloc(10), headers: {} };
  records.add("a", record, 5);
  await eventually(() => expect(failures).toEqual([bug]));
  records.add("a", record, 6);
  await sleep(20);
  expect([failures, asked]).toEqual([[bug], 1]);
});
