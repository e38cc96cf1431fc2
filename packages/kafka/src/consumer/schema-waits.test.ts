import { expect, it } from "vitest";
import { SchemaWaits } from "./schema-waits.ts";

it("tells how long the oldest record of a topic has waited, until its wait is over either way", async () => {
  let nowMs = 0;
  const waits = new SchemaWaits(() => nowMs);
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  void waits.note("a", first.promise);
  nowMs = 100;
  void waits.note("a", second.promise);
  void waits.note("b", undefined);
  nowMs = 150;
  expect([waits.oldestMs("a"), waits.oldestMs("b")]).toEqual([150, 0]);
  first.reject(new Error("the registry refuses"));
  await first.promise.catch(() => undefined);
  expect(waits.oldestMs("a")).toBe(50);
  second.resolve();
  await second.promise;
  expect(waits.oldestMs("a")).toBe(0);
});
