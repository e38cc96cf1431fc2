/** Why a delivery is deferred, that is, republished to a retry topic without a request. */
export const DEFERRED_CAUSES = [
  /** The destination's breaker is open. */
  "breaker_open",
  /** The destination has as many requests in flight as its concurrency limit allows, and the wait would be too long. */
  "concurrency_limit",
  /** The destination's deliveries are most of a window that is full. */
  "window_full",
  /** A receiver asked not to be called for a while. */
  "retry_after",
  /** A secret of the destination is sealed with a key that this process lacks: set POSTHASTE_SECRET_KEYS. */
  "unknown_key",
] as const;
export type DeferredCause = (typeof DEFERRED_CAUSES)[number];
