import { SILENT_LOG } from "@posthaste/core/log";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { REMOVAL_MS, removeGone } from "./remove-gone.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const GONE = new Map([
  ["first", ["a", "b"]],
  ["second", ["a"]],
]);

/** Removes all of `GONE`, with a producer that sends so. */
function remove(send: (count: number) => Promise<unknown>, signal = new AbortController().signal) {
  const sent: number[] = [];
  const producer = {
    send: (records: readonly unknown[]) => {
      sent.push(records.length);
      return send(sent.length);
    },
  };
  const names = { destinationHealth: "health" };
  return { sent, removed: removeGone(GONE, { producer: producer as never, names, log: SILENT_LOG }, signal) };
}

it("removes a record for each destination that a process reported, and its own", async () => {
  const { sent, removed } = remove(async () => undefined);
  await removed;
  expect(sent).toEqual([3, 2]);
});

it("gives up where the brokers do not answer in time", async () => {
  const { removed } = remove(() => new Promise(() => undefined));
  const outcome = expect(removed).rejects.toMatchObject({ code: "deadline_exceeded" });
  await vi.advanceTimersByTimeAsync(REMOVAL_MS);
  await outcome;
});

it("begins with no further process once another leads", async () => {
  const leading = new AbortController();
  const { sent, removed } = remove(async () => leading.abort(), leading.signal);
  await removed;
  expect(sent).toEqual([3]);
});
