/** A process that starts before its brokers or its registry waits for them, and says so. */
import { isPosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { BROKERS_UNREACHABLE } from "./brokers-readiness.ts";
import type { KafkaConnection } from "./connect.ts";
import { pause, retryPauseMs } from "./deadline.ts";
import { describe } from "./kafka-errors.ts";
import { SYSTEM_CLOCK } from "./system-clock.ts";

/** Ms between two log lines about the same wait. */
const SAY_EVERY_MS = 5000;

export interface Waiting {
  readonly log: Log;
  /** What the log line says, beside the reason. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
  /**
   * Whether a line is due; for several waits for the same, which share one. Each wait has its own where it is left out.
   */
  readonly isLineDue?: () => boolean;
  /** Ends the waiting: the last failure is the answer then. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/** True at once and then not for `SAY_EVERY_MS` after it was. */
export function everySoOften(clock: Clock = SYSTEM_CLOCK): () => boolean {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - saidAtMs < SAY_EVERY_MS) return false;
    saidAtMs = nowMs;
    return true;
  };
}

/**
 * Runs `ask` until it no longer rejects with a PosthasteError that is retryable; any other rejection is the caller's at
 * once.
 */
export async function untilAnswered<T>(ask: () => Promise<T>, waiting: Waiting): Promise<T> {
  const { log, fields, message, signal, isLineDue = everySoOften(waiting.clock) } = waiting;
  for (let failures = 1; ; failures += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isPosthasteError(error) || !error.retryable || signal?.aborted) throw error;
      if (isLineDue()) log.warn({ ...fields, reason: describe(error) }, message);
    }
    await pause(retryPauseMs(failures), signal);
  }
}

/**
 * The same for a question to the brokers; it ends when `signal` is aborted, or, of the admin client, when the
 * connection is closed.
 */
export function whenReachable<T>(connection: KafkaConnection, ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  return untilAnswered(ask, {
    log: connection.log,
    fields: { event: "brokers_unreachable", brokers: connection.brokers },
    message: BROKERS_UNREACHABLE,
    ...(signal ? { signal } : {}),
  });
}
