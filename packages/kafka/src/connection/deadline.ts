/** Deadlines and pauses. */
import { PosthasteError } from "@posthaste/core/errors";

/**
 * Settles as `promise` does, or rejects with `deadline_exceeded` after `timeoutMs`. `what` begins the error's message.
 */
export function withDeadline<T>(promise: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new PosthasteError("deadline_exceeded", `${what}: no answer within ${timeoutMs} ms`, { retryable: true }));
    }, timeoutMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * The pause in ms before the n-th retry (`failures` = n, from 1): 100, 200, 400, then 500. It stays this short because
 * each pause adds to the time of a failover.
 */
export function retryPauseMs(failures: number): number {
  return Math.min(500, 50 * 2 ** Math.min(failures, 10));
}

/** Resolves after `ms`, or as soon as `signal` is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}
