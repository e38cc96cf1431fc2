/** Rules: NH1 and NH2 of late-records.ts, over a table that is read when the test says so. */
import { describe, expect, it } from "vitest";
import { LateRecords } from "./late-records.ts";

/** A table whose reading waits; `reads` counts who asked for it. */
function openTable() {
  const waiting: PromiseWithResolvers<void>[] = [];
  const held = new Map<string, string>();
  const refresh = (): Promise<void> => {
    const asked = Promise.withResolvers<void>();
    waiting.push(asked);
    return asked.promise;
  };
  return { waiting, held, late: new LateRecords({ refresh }) };
}

describe("NH1: what a table has not heard of", () => {
  it("is looked for once the topic was read, and what it has is answered without a question", async () => {
    const { waiting, held, late } = openTable();
    held.set("old", "there");
    expect(await late.find(() => held.get("old"))).toBe("there");
    expect(waiting).toHaveLength(0);
    const found = late.find(() => held.get("new"));
    held.set("new", "there too");
    waiting[0]?.resolve();
    expect(await found).toBe("there too");
  });
});

describe("NH2: who waits", () => {
  it("is answered by what is held where the topic cannot be read", async () => {
    const { waiting, late } = openTable();
    const [found, isRead] = [late.find(() => undefined), late.read()];
    for (const asked of waiting) asked.reject(new Error("no brokers"));
    expect([await found, await isRead]).toEqual([undefined, false]);
  });

  it("is one of 500; the others are answered at once, until one of those was", async () => {
    const { waiting, late } = openTable();
    const reads = Array.from({ length: 500 }, () => late.read());
    expect(waiting).toHaveLength(500);
    expect(await late.read()).toBe(false);
    waiting[0]?.reject(new Error("no brokers"));
    expect(await reads[0]).toBe(false);
    const next = late.read();
    for (const asked of waiting) asked.resolve();
    expect(await next).toBe(true);
  });
});
