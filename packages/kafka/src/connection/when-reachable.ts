/** Lets a process that starts before its brokers or its schema registry wait for them, and log that it waits. */
import { isPosthasteError } from "@posthaste/core/errors";
import type { Log } from "@posthaste/core/log";
import type { Clock } from "@posthaste/core/time";
import { BROKERS_UNREACHABLE } from "./brokers-readiness.ts";
import type { KafkaConnection } from "./connect.ts";
import { pause, retryPauseMs } from "./deadline.ts";
import { describe } from "./kafka-errors.ts";
import { SYSTEM_CLOCK } from "./system-clock.ts";

/** Ms between two log lines for the same wait. */
const LOG_EVERY_MS = 5000;

export interface Waiting {
  readonly log: Log;
  /** Fields of the log line, beside the reason. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
  /**
   * True when a log line is due. Several waits for the same thing share one function, and so one line; a wait without
   * it has its own.
   */
  readonly isLineDue?: () => boolean;
  /** Ends the waiting; the call then rejects with the last failure. */
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/** Makes a function that is true at its first call, and afterwards at most once in `LOG_EVERY_MS`. */
export function everySoOften(clock: Clock = SYSTEM_CLOCK): () => boolean {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - loggedAtMs < LOG_EVERY_MS) return false;
    loggedAtMs = nowMs;
    return true;
  };
}

/**
 * Repeats `ask` until it resolves, or rejects with anything but a retryable PosthasteError; that rejection is passed
 * on.
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
 * Repeats a question to the brokers as `untilAnswered` does, until `signal` is aborted. A question to the admin client
 * also ends when the connection is closed.
 */
export function whenReachable<T>(connection: KafkaConnection, ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  return untilAnswered(ask, {
    log: connection.log,
    fields: { event: "brokers_unreachable", brokers: connection.brokers },
    message: BROKERS_UNREACHABLE,
    ...(signal ? { signal } : {}),
  });
}
