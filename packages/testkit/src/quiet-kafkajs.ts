/**
 * Keeps bare kafkajs clients from a timer that they set to a time below zero: Node 24 prints a warning for the first,
 * and each connection sets one a millisecond. The services' clients have more of this kind, by the kafka package's
 * `request-queue-timer.ts`, on which nothing here can depend.
 */
import { createRequire } from "node:module";

interface RequestQueue {
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

let isDone = false;

/** Changes kafkajs for the whole process: a queue's timer is set only while it holds back a request. */
export function quietKafkajs(): void {
  if (isDone) return;
  isDone = true;
  const { prototype }: { readonly prototype: RequestQueue } = createRequire(import.meta.url)(
    "kafkajs/src/network/requestQueue/index.js",
  );
  const schedule = prototype.scheduleCheckPendingRequests;
  prototype.scheduleCheckPendingRequests = function scheduleCheckPendingRequests(): void {
    if (this.pending.length > 0) schedule.call(this);
  };
}
