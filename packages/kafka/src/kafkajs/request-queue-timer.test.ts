/** Rules: RQ1 and RQ2 of request-queue-timer.ts. */
import { createRequire } from "node:module";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type RequestQueueClass, scheduleOnlyDueRequests } from "./request-queue-timer.ts";

const require = createRequire(import.meta.url);

interface Queue {
  push(request: object): void;
  fulfillRequest(answer: object): void;
  maybeThrottle(ms: number): void;
  scheduleRequestTimeoutCheck(): void;
  destroy(): void;
}

type QueueClass = RequestQueueClass & (new (options: object) => Queue);

/** kafkajs's class, loaded anew: no other test sees the changes that a test makes to it. */
function loadQueueClass(): QueueClass {
  for (const path of Object.keys(require.cache)) if (path.includes("/kafkajs/")) delete require.cache[path];
  return require("kafkajs/src/network/requestQueue/index.js");
}

function createQueue(
  QueueOf: QueueClass,
  { isConnected = (): boolean => true, enforceRequestTimeout = false } = {},
): Queue {
  const quiet = () => undefined;
  return new QueueOf({
    instrumentationEmitter: null,
    maxInFlightRequests: enforceRequestTimeout ? null : 1,
    requestTimeout: 30_000,
    enforceRequestTimeout,
    clientId: "c",
    broker: "b:1",
    logger: { debug: quiet },
    isConnected,
  });
}

/** Asks one request; its number is in `sent` when it has gone out, and in `overdue` when it was given up. */
function ask(queue: Queue, correlationId: number, { sent = [], overdue = [], ...given }: Asked = {}): void {
  queue.push({
    expectResponse: true,
    ...given,
    entry: {
      correlationId,
      apiKey: 1,
      apiName: "Fetch",
      apiVersion: 4,
      resolve: () => undefined,
      reject: () => overdue.push(correlationId),
    },
    sendRequest: () => sent.push(correlationId),
  });
}

interface Asked {
  readonly sent?: number[];
  readonly overdue?: number[];
  readonly requestTimeout?: number;
  readonly expectResponse?: boolean;
}

const answer = (correlationId: number) => ({ correlationId, payload: {}, size: 1 });

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("RQ1: a request queue that asks for a look only while something is held back", () => {
  it("leaves no timer behind once all is answered, where kafkajs's own leaves one of a millisecond", () => {
    for (const isPatched of [false, true]) {
      const QueueOf = loadQueueClass();
      if (isPatched) scheduleOnlyDueRequests(QueueOf);
      const queue = createQueue(QueueOf);
      ask(queue, 1);
      queue.fulfillRequest(answer(1));
      expect(vi.getTimerCount()).toBe(isPatched ? 0 : 1);
      queue.destroy();
    }
  });

  it("sends what a broker's throttling held back when its time is over, and what stood behind another request", () => {
    const QueueOf = loadQueueClass();
    scheduleOnlyDueRequests(QueueOf);
    scheduleOnlyDueRequests(QueueOf);
    const queue = createQueue(QueueOf);
    const sent: number[] = [];
    queue.maybeThrottle(200);
    ask(queue, 1, { sent });
    ask(queue, 2, { sent });
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

  it("sets no timer to a time below zero, of which Node warns, also where much was held back", () => {
    const QueueOf = loadQueueClass();
    scheduleOnlyDueRequests(QueueOf);
    const queue = createQueue(QueueOf);
    const set = vi.spyOn(globalThis, "setTimeout");
    ask(queue, 1);
    queue.fulfillRequest(answer(1));
    queue.maybeThrottle(50);
    ask(queue, 2);
    ask(queue, 3);
    vi.advanceTimersByTime(100);
    queue.fulfillRequest(answer(2));
    queue.fulfillRequest(answer(3));
    queue.destroy();
    expect(set.mock.calls.map(([, ms]) => ms)).not.toHaveLength(0);
    for (const [, ms] of set.mock.calls) expect(ms).toBeGreaterThanOrEqual(0);
  });
});

describe("RQ2: a request queue that looks for overdue requests when one may be overdue", () => {
  /** A queue with a connection, whose requests may take 30 s. */
  function connectedQueue(isPatched: boolean, isConnected = () => true): Queue {
    const QueueOf = loadQueueClass();
    if (isPatched) scheduleOnlyDueRequests(QueueOf);
    const queue = createQueue(QueueOf, { isConnected, enforceRequestTimeout: true });
    queue.scheduleRequestTimeoutCheck();
    return queue;
  }

  it("sleeps while nothing is out, where kafkajs's own looks every 100 ms", () => {
    for (const isPatched of [false, true]) {
      const queue = connectedQueue(isPatched);
      expect(vi.getTimerCount()).toBe(isPatched ? 0 : 1);
      ask(queue, 1, { expectResponse: false });
      expect(vi.getTimerCount()).toBe(isPatched ? 0 : 1);
      queue.destroy();
    }
  });

  it.each([false, true])("gives up what is overdue, and that alone, at its time (patched: %s)", (isPatched) => {
    const queue = connectedQueue(isPatched);
    const overdue: number[] = [];
    ask(queue, 1, { overdue });
    ask(queue, 2, { overdue, requestTimeout: 90_000 });
    vi.advanceTimersByTime(10_000);
    ask(queue, 3, { overdue });
    ask(queue, 4, { overdue });
    queue.fulfillRequest(answer(1));
    vi.advanceTimersByTime(29_999);
    expect(overdue).toEqual([]);
    queue.fulfillRequest(answer(4));
    vi.advanceTimersByTime(200);
    expect(overdue).toEqual([3]);
    ask(queue, 5, { overdue });
    vi.advanceTimersByTime(30_200);
    expect(overdue).toEqual([3, 5]);
    vi.advanceTimersByTime(20_000);
    expect(overdue).toEqual([3, 5, 2]);
    queue.destroy();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("looks for one that may be overdue sooner than those before it", () => {
    const queue = connectedQueue(true);
    const overdue: number[] = [];
    ask(queue, 1, { overdue, requestTimeout: 90_000 });
    ask(queue, 2, { overdue });
    vi.advanceTimersByTime(30_001);
    expect(overdue).toEqual([2]);
    queue.destroy();
  });

  it("looks once in the time that a request may take, however many are asked and answered", () => {
    const queue = connectedQueue(true);
    const set = vi.spyOn(globalThis, "setTimeout");
    for (let id = 0; id < 1000; id += 1) {
      ask(queue, id);
      vi.advanceTimersByTime(29);
      queue.fulfillRequest(answer(id));
    }
    expect(set.mock.calls.length).toBe(1);
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
    queue.destroy();
  });

  it("ends with its connection", () => {
    let isConnected = true;
    const queue = connectedQueue(true, () => isConnected);
    const overdue: number[] = [];
    ask(queue, 1, { overdue });
    queue.destroy();
    expect(vi.getTimerCount()).toBe(0);
    // Nothing looks for requests that were made without a connection.
    ask(queue, 4);
    expect(vi.getTimerCount()).toBe(0);
    queue.fulfillRequest(answer(4));
    // A new connection of the same queue; it is lost without a word.
    queue.scheduleRequestTimeoutCheck();
    ask(queue, 2, { overdue, requestTimeout: 40_000 });
    ask(queue, 3, { overdue });
    isConnected = false;
    vi.advanceTimersByTime(30_001);
    expect(overdue).toEqual([1, 3]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
