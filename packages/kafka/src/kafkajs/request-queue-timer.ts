/**
 * Takes from kafkajs's request queue its timer of one millisecond.
 *
 * A queue of kafkajs looks for requests that throttling held back, and sets a timer for its next look after
 * `throttledUntil` less the present moment. Unless a broker throttles, that time is below zero, so the queue looks
 * again after one millisecond, for ever, on each connection that ever answered. With this patch a queue sets the timer
 * only while it holds back a request. A request that comes later sets it (`push`), and so does each answer
 * (`fulfillRequest`). An idle service woke 900 times a second without the patch, and wakes some 20 times with it.
 */
import { createRequire } from "node:module";

/** The method of kafkajs's RequestQueue class that the patch replaces, and the field that it reads. */
export interface RequestQueueClass {
  readonly prototype: {
    readonly pending: readonly unknown[];
    scheduleCheckPendingRequests(): void;
  };
}

const patched = new WeakSet<RequestQueueClass>();

/** Changes the class for the whole process; a second call changes nothing. */
export function scheduleOnlyHeldBackRequests(queue: RequestQueueClass = loadRequestQueue()): void {
  if (patched.has(queue)) return;
  patched.add(queue);
  const schedule = queue.prototype.scheduleCheckPendingRequests;
  queue.prototype.scheduleCheckPendingRequests = function scheduleCheckPendingRequests(): void {
    if (this.pending.length > 0) schedule.call(this);
  };
}

function loadRequestQueue(): RequestQueueClass {
  return createRequire(import.meta.url)("kafkajs/src/network/requestQueue/index.js");
}
