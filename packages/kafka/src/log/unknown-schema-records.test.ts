import { eventually } from "@posthaste/testkit/eventually";
import { expect, it } from "vitest";
import type { IncomingRecord } from "../wire/incoming-record.ts";
import { UnknownSchemaRecords } from "./unknown-schema-records.ts";

it("UR3: keeps bytes of its own, and so nothing of the fetch that a record came with", async () => {
  const fetch = Buffer.alloc(1024 * 1024);
  const value = fetch.subarray(1000, 1010);
  const headers = { revision: fetch.subarray(2000, 2001) };
  const known: IncomingRecord[] = [];
  const records = new UnknownSchemaRecords({
    prefetch: () => undefined,
    onKnown: (record) => known.push(record),
    roundMs: 1,
  });
  const place = { topic: "config", partition: 0, offset: 3, timestampMs: 0 };
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
