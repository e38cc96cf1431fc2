/** Waiting with an end. */
import { PosthasteError } from "@posthaste/core/errors";

/**
 * Settles as `promise` does, or rejects with `deadline_exceeded` after `timeoutMs`; `what` is the message's subject.
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
 * Pause before the n-th try after a failure (n from 1): 100 ms, doubled, at most half a second, since each counts in a
 * failover.
 */
export function retryPauseMs(failures: number): number {
  return Math.min(500, 50 * 2 ** Math.min(failures, 10));
}

/** A pause that ends early, without an error, when `signal` is aborted. */
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
