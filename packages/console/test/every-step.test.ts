/** Steps of a series in which nothing was counted. */
import { expect, it } from "vitest";
import { everyStep } from "../src/pages/destinations/every-step.ts";

const at = (minute: number) => `2026-11-22T14:${String(minute).padStart(2, "0")}:00.000Z`;
const sent = (minute: number, delivered: number) => {
  return { time: at(minute), delivered, retryable: 1, permanent: 0, deferred: 0 };
};

it("a step that control left out is one in which nothing was sent, and nobody knows how long answers took", () => {
  const outcomes = everyStep({ metric: "outcomes", step: "5m", data: [sent(0, 7), sent(5, 8), sent(20, 9)] });
  const none = { delivered: 0, retryable: 0, permanent: 0, deferred: 0 };
  expect(outcomes).toEqual([sent(0, 7), sent(5, 8), { time: at(10), ...none }, { time: at(15), ...none }, sent(20, 9)]);
  const slow = (minute: number) => ({ time: at(minute), p50Ms: 3, p99Ms: 9 });
  const latency = everyStep({ metric: "latency", step: "1m", data: [slow(1), slow(3)] });
  expect(latency).toEqual([slow(1), { time: at(2) }, slow(3)]);
});

it("what waits goes on waiting, and what is empty stays empty", () => {
  const data = [1, 9].map((minute) => ({ time: at(minute), waiting: 3, inFlight: 0 }));
  expect(everyStep({ metric: "waiting", step: "1m", data })).toBe(data);
  expect(everyStep({ metric: "outcomes", step: "1m", data: [] })).toEqual([]);
});
