import { encodeUnreadable } from "@posthaste/contracts/unreadable-headers";
import type { IncomingRecord } from "@posthaste/kafka/wire/incoming-record";
import { describe, expect, it } from "vitest";
import { REPRODUCED_HEADER, UnreadableEntries } from "./unreadable-entries.ts";

let offsets = 0;

function recordWith(headers: Readonly<Record<string, string>>): IncomingRecord {
  const raw = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]));
  // As much of a record as the entries look at.
  return { partition: 0, offset: offsets++, value: Buffer.from("{"), headers: raw } as unknown as IncomingRecord;
}

function quarantine(offset: number, by: string): IncomingRecord {
  const why = { reason: "not_framed", error: "no schema id", atMs: offset, isValueOmitted: false } as const;
  return recordWith(encodeUnreadable({ ...{ topic: "t", partition: 0, offset, by }, ...why }));
}

describe("the newest records quarantined", () => {
  it("UJ2: are as many as their bound, newest first", () => {
    const entries = new UnreadableEntries({ mostEntries: 2, mostPlaces: 10 });
    for (const offset of [1, 2, 3]) entries.take(quarantine(offset, "delivery"));
    expect(entries.list().map(({ offset }) => offset)).toEqual([3, 2]);
    expect([entries.has("t/0/1"), entries.has("t/0/2")]).toEqual([false, true]);
  });

  it("UJ4: know what control quarantined, however many came after it, up to a bound of their own", () => {
    const entries = new UnreadableEntries({ mostEntries: 2, mostPlaces: 3 });
    entries.take(quarantine(1, "control"));
    for (const offset of [10, 11, 12, 13]) entries.take(quarantine(offset, "router"));
    expect(entries.has("t/0/1")).toBe(true);
    for (const offset of [2, 3]) entries.take(quarantine(offset, "control"));
    expect(entries.has("t/0/1")).toBe(true);
    entries.take(quarantine(4, "control"));
    expect([1, 2, 3, 4].map((offset) => entries.has(`t/0/${offset}`))).toEqual([false, true, true, true]);
  });

  it("UJ1, UJ3: are one entry for one place, which a mark says was produced again", () => {
    const entries = new UnreadableEntries({ mostEntries: 2, mostPlaces: 3 });
    for (const by of ["control", "control"]) entries.take(quarantine(1, by));
    expect(entries.list().map(({ isReproduced }) => isReproduced)).toEqual([false]);
    entries.take(recordWith({ [REPRODUCED_HEADER]: "t/0/1" }));
    expect(entries.list().map(({ isReproduced }) => isReproduced)).toEqual([true]);
  });
});
