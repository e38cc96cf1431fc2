/**
 * Takes from kafkajs's request queues the timers that wake an idle process. A queue belongs to a connection.
 *
 * A queue of kafkajs looks for requests that throttling held back, and sets a timer for its next look after
 * `throttledUntil` less the present moment. Unless a broker throttles, that time is below zero, so the queue looks
 * again after one millisecond, for ever, on each connection that ever answered, and Node warns of it. It also looks
 * every 100 ms for requests whose answer is overdue. An idle service woke 900 times a second for the first, and
 * control, which follows a hundred partitions, made 1,100 of the other looks a second.
 *
 * RQ1  A queue sets the timer of held back requests only while it holds back one, for the time that is left, and never
 *      for less than 0 ms. A request that comes later sets it (`push`), and so does each answer (`fulfillRequest`).
 * RQ2  A queue looks for overdue requests when the first of those that are out may be overdue, and not before. A
 *      request that is sent while no look is set sets one; a queue that was told of no connection sets none.
 */
import { createRequire } from "node:module";

/** A request that was sent, once `sentAt` is set. */
interface SocketRequest {
  readonly sentAt: number | null;
  readonly requestTimeout: number;
  readonly expectResponse: boolean;
  timeoutRequest(): void;
}

/** The part of kafkajs's RequestQueue that is used here. */
interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly inflight: ReadonlyMap<number, SocketRequest>;
  readonly enforceRequestTimeout: boolean;
  isConnected(): boolean;
  destroy(): void;
  sendSocketRequest(request: SocketRequest): void;
  scheduleRequestTimeoutCheck(): void;
  scheduleCheckPendingRequests(): void;
}

/** kafkajs's class, whose methods the patch replaces. */
export interface RequestQueueClass {
  readonly prototype: RequestQueue;
}

const patched = new WeakSet<RequestQueueClass>();

/** Changes the class for the whole process; a second call changes nothing. */
export function scheduleOnlyDueRequests(queue: RequestQueueClass = loadRequestQueue()): void {
  if (patched.has(queue)) return;
  patched.add(queue);
  scheduleOnlyHeldBackRequests(queue);
  lookForOverdueRequestsWhenDue(queue);
}

/** Sets the timer of held back requests only while there are some (RQ1). */
function scheduleOnlyHeldBackRequests({ prototype }: RequestQueueClass): void {
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleCheckPendingRequests(): void {
    if (this.pending.length > 0) schedule.call(this);
  };
}

/** When a queue looks for overdue requests next. */
interface Look {
  readonly timer: NodeJS.Timeout;
  readonly atMs: number;
}

/** Looks for overdue requests only when one may be overdue (RQ2). */
function lookForOverdueRequestsWhenDue({ prototype }: RequestQueueClass): void {
  /** Of each queue that has a connection; null while it looks for nothing. */
  const looks = new WeakMap<RequestQueue, Look | null>();
  const { sendSocketRequest, destroy } = prototype;

  const lookAt = (queue: RequestQueue, atMs: number): void => {
    clearTimeout(looks.get(queue)?.timer);
    looks.set(queue, { timer: setTimeout(look, Math.max(0, atMs - Date.now()), queue), atMs });
  };
  const look = (queue: RequestQueue): void => {
    looks.set(queue, null);
    const nowMs = Date.now();
    for (const request of [...queue.inflight.values()]) if (nowMs >= dueAtMs(request)) request.timeoutRequest();
    if (!queue.isConnected()) queue.destroy();
    else if (queue.inflight.size > 0) lookAt(queue, Math.min(...Array.from(queue.inflight.values(), dueAtMs)));
  };

  prototype.scheduleRequestTimeoutCheck = function scheduleRequestTimeoutCheck(): void {
    if (!this.enforceRequestTimeout) return;
    this.destroy();
    looks.set(this, null);
  };
  prototype.sendSocketRequest = function sendRequest(request): void {
    sendSocketRequest.call(this, request);
    const next = looks.get(this);
    const atMs = dueAtMs(request);
    if (next !== undefined && request.expectResponse && atMs < (next?.atMs ?? Number.POSITIVE_INFINITY))
      lookAt(this, atMs);
  };
  prototype.destroy = function destroyTimers(): void {
    clearTimeout(looks.get(this)?.timer);
    looks.delete(this);
    destroy.call(this);
  };
}

/** kafkajs takes an answer for overdue when more than `requestTimeout` has passed. */
function dueAtMs({ sentAt, requestTimeout }: SocketRequest): number {
  return (sentAt ?? Date.now()) + requestTimeout + 1;
}

function loadRequestQueue(): RequestQueueClass {
  return createRequire(import.meta.url)("kafkajs/src/network/requestQueue/index.js");
}
