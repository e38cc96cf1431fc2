import { createRequire } from "node:module";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type RequestQueueClass, scheduleOnlyHeldBackRequests } from "./request-queue-timer.ts";

const require = createRequire(import.meta.url);

interface Queue {
  push(request: object): void;
  fulfillRequest(answer: object): void;
  maybeThrottle(ms: number): void;
  destroy(): void;
}

type QueueClass = RequestQueueClass & (new (options: object) => Queue);

/** kafkajs's class, loaded anew: what a test changes of it, no other sees. */
function loadQueueClass(): QueueClass {
  for (const path of Object.keys(require.cache)) if (path.includes("/kafkajs/")) delete require.cache[path];
  return require("kafkajs/src/network/requestQueue/index.js");
}

function createQueue(QueueOf: QueueClass): Queue {
  const quiet = () => undefined;
  return new QueueOf({
    instrumentationEmitter: null,
    maxInFlightRequests: 1,
    requestTimeout: 30_000,
    enforceRequestTimeout: false,
    clientId: "c",
    broker: "b:1",
    logger: { debug: quiet },
    isConnected: () => true,
  });
}

/** Asks one request; its number is in `sent` when it has gone out. */
function ask(queue: Queue, correlationId: number, sent: number[]): void {
  queue.push({
    entry: {
      correlationId,
      apiKey: 1,
      apiName: "Fetch",
      apiVersion: 4,
      resolve: () => undefined,
      reject: () => undefined,
    },
    expectResponse: true,
    sendRequest: () => sent.push(correlationId),
  });
}

const answer = (correlationId: number) => ({ correlationId, payload: {}, size: 1 });

describe("a request queue that asks for a look only while something is held back", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it("leaves no timer behind once all is answered, where kafkajs's own leaves one of a millisecond", () => {
    for (const isPatched of [false, true]) {
      const QueueOf = loadQueueClass();
      if (isPatched) scheduleOnlyHeldBackRequests(QueueOf);
      const queue = createQueue(QueueOf);
      ask(queue, 1, []);
      queue.fulfillRequest(answer(1));
      expect(vi.getTimerCount()).toBe(isPatched ? 0 : 1);
      queue.destroy();
    }
  });

  it("sends what a broker's throttling held back when its time is over, and what stood behind another request", () => {
    const QueueOf = loadQueueClass();
    scheduleOnlyHeldBackRequests(QueueOf);
    scheduleOnlyHeldBackRequests(QueueOf);
    const queue = createQueue(QueueOf);
    const sent: number[] = [];
    queue.maybeThrottle(200);
    ask(queue, 1, sent);
    ask(queue, 2, sent);
    vi.advanceTimersByTime(199);
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(sent).toEqual([1]);
    queue.fulfillRequest(answer(1));
    expect(sent).toEqual([1, 2]);
    queue.fulfillRequest(answer(2));
    vi.advanceTimersByTime(1000);
    expect(vi.getTimerCount()).toBe(0);
    queue.destroy();
  });
});
