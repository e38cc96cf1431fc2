/** Rule: V1 of check.ts. */
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { type Log, SILENT_LOG } from "@posthaste/core/log";
import { eventually } from "@posthaste/testkit/eventually";
import { expect, it } from "vitest";
import { ConfigWait, type ConfigWaitOptions } from "./config-wait.ts";

/** A table at offset 4 whose answers the test gives. */
function table() {
  const asked = { waits: 0, refreshes: 0 };
  const reached = Promise.withResolvers<void>();
  const refreshed = Promise.withResolvers<void>();
  const destinations = {
    appliedOffset: 4,
    waitForOffset: () => {
      asked.waits += 1;
      return reached.promise;
    },
    refresh: () => {
      asked.refreshes += 1;
      return refreshed.promise;
    },
  } satisfies ConfigWaitOptions["destinations"];
  return { destinations, asked, reached, refreshed };
}

it("V1: goes on at once where the offset is known, and else when it is", async () => {
  const { destinations, asked, reached } = table();
  const wait = new ConfigWait({ destinations, log: SILENT_LOG });
  const went: string[] = [];
  wait.whenKnown(4, () => went.push("known"));
  wait.whenKnown(5, () => went.push("first"));
  wait.whenKnown(5, () => went.push("second"));
  await setImmediate();
  expect(went).toEqual(["known"]);
  reached.resolve();
  await setImmediate();
  expect(went).toEqual(["known", "first", "second"]);
  // A wait that ended is forgotten: the next one asks again.
  wait.whenKnown(5, () => went.push("third"));
  await setImmediate();
  expect([went.at(-1), asked.waits]).toEqual(["third", 2]);
});

it("G1: goes on at the topic's present end where the offset is not reached", async () => {
  const { destinations, asked, reached, refreshed } = table();
  const wait = new ConfigWait({ destinations, log: SILENT_LOG });
  const went: number[] = [];
  wait.whenKnown(5, () => went.push(5));
  reached.reject(new Error("not in time"));
  await setImmediate();
  expect([asked.refreshes, went]).toEqual([1, []]);
  refreshed.resolve();
  await setImmediate();
  expect(went).toEqual([5]);
});

it("G2, G3: a closed table is asked once a pause for all of an offset, and no more after the close", async () => {
  const { destinations, asked, reached, refreshed } = table();
  reached.reject(new Error("closed"));
  refreshed.reject(new Error("closed"));
  await Promise.allSettled([reached.promise, refreshed.promise]);
  let warnings = 0;
  const log: Log = {
    ...SILENT_LOG,
    warn: (fields) => {
      warnings += 1;
      expect(fields).toEqual({ event: "destinations_behind", appliedOffset: 4, offset: 5 });
    },
  };
  const wait = new ConfigWait({ destinations, log, pauseMs: 20 });
  const went: number[] = [];
  const startedMs = performance.now();
  for (let delivery = 0; delivery < 1000; delivery += 1) wait.whenKnown(5, () => went.push(delivery));
  await eventually(() => expect(asked.waits).toBeGreaterThan(2), { intervalMs: 5 });
  expect(asked.waits).toBeLessThanOrEqual(2 + (performance.now() - startedMs) / 20);
  await setImmediate();
  expect(warnings).toBe(asked.waits);
  wait.close();
  const before = { ...asked };
  await sleep(60);
  expect([asked, went]).toEqual([before, []]);
});

it("G3: what is known after the close goes on no more, and no warning is written", async () => {
  const { destinations, reached } = table();
  let warnings = 0;
  const log: Log = { ...SILENT_LOG, warn: () => (warnings += 1) };
  const wait = new ConfigWait({ destinations, log });
  const went: number[] = [];
  wait.whenKnown(5, () => went.push(5));
  wait.close();
  reached.reject(new Error("closed"));
  await setImmediate();
  expect([went, warnings]).toEqual([[], 0]);
});
