import { createRequire } from "node:module";
import { afterEach, expect, it, vi } from "vitest";
import { createTestKafka } from "./broker.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("a bare client's queue sets no timer while it holds nothing back, and one in the future while it does", () => {
  createTestKafka(["127.0.0.1:1"]);
  const { prototype } = createRequire(import.meta.url)("kafkajs/src/network/requestQueue/index.js");
  vi.useFakeTimers();
  const set = vi.spyOn(globalThis, "setTimeout");
  prototype.scheduleCheckPendingRequests.call({ pending: [], throttledUntil: -1 });
  expect(set).not.toHaveBeenCalled();
  prototype.scheduleCheckPendingRequests.call({ pending: ["request"], throttledUntil: -1 });
  expect(set.mock.calls.map(([, ms]) => Number(ms) > 0)).toEqual([true]);
});
