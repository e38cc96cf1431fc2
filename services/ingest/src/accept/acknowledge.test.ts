import { PosthasteError } from "@posthaste/core/errors";
import { SILENT_LOG } from "@posthaste/core/log";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createIngestMetrics } from "../metrics.ts";
import { Acknowledgements } from "./acknowledge.ts";

const TIMEOUT_MS = 5_000;

/** The brokers' answer to each send, in order. */
let sends: PromiseWithResolvers<void>[];
let acknowledgements: Acknowledgements;
beforeEach(() => {
  vi.useFakeTimers();
  sends = [];
  acknowledgements = new Acknowledgements({
    producer: {
      send: () => {
        const sent = Promise.withResolvers<void>();
        sends.push(sent);
        return sent.promise;
      },
    },
    acknowledgeTimeoutMs: TIMEOUT_MS,
    clock: { monotonicMs: () => performance.now() },
    metrics: createIngestMetrics(new Registry()),
    log: SILENT_LOG,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

it("lets each call wait as long as any other, by one timer", async () => {
  const answers: (boolean | undefined)[] = [];
  const start = (index: number) =>
    void acknowledgements.of([]).then((isAcknowledged) => {
      answers[index] = isAcknowledged;
    });
  start(0);
  await vi.advanceTimersByTimeAsync(3_000);
  start(1);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([answers, acknowledgements.size]).toEqual([[false], 1]);
  await vi.advanceTimersByTimeAsync(2_998);
  expect(answers).toEqual([false]);
  await vi.advanceTimersByTimeAsync(2);
  expect([answers, acknowledgements.size, vi.getTimerCount()]).toEqual([[false, false], 0, 0]);
});

it("holds no call that is answered", async () => {
  const answers = Promise.all([acknowledgements.of([]), acknowledgements.of([])]);
  expect(acknowledgements.size).toBe(2);
  sends[0]?.resolve();
  sends[1]?.reject(new PosthasteError("broker_unavailable", "no"));
  expect(await answers).toEqual([true, false]);
  expect(acknowledgements.size).toBe(0);
});
