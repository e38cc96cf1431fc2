/** The share that one URL of a destination gets in time beside another, in simulated time. */

import type { Destination } from "@posthaste/core/config/destination";
import { DEFAULT_RETRY_DELAYS_MS } from "@posthaste/core/delivery/backoff";
import { type Answer, SimulatedDelivery } from "./simulated-delivery.ts";

export const WORKS = "https://works.example/";
export const BESIDE = "https://beside.example/";
export const WELL: Answer = { status: 200, afterMs: 20 };

const STEP_MS = 10;
const IN_TIME_MS = 1000;

export type Settle = "any" | "each";

export const destinationOf = (id: string, urls: readonly string[], settle: Settle = "any") =>
  ({
    id,
    revision: 1,
    enabled: true,
    rateLimitPerSecond: null,
    missingKeyIds: null,
    settle,
    urls: urls.map((url) => ({ url, headers: {} })),
  }) as unknown as Destination;

export function simulate(
  destinations: readonly Destination[],
  answerOf: (url: string, nowMs: number) => Answer,
): SimulatedDelivery {
  return new SimulatedDelivery({
    destinations,
    answerOf,
    delaysMs: DEFAULT_RETRY_DELAYS_MS,
    windowRecords: 2000,
    partitions: 6,
  });
}

export interface Load {
  readonly settle: Settle;
  readonly perSecond: number;
  readonly minutes: number;
  /** The number of users, each with deliveries one after another. */
  readonly users?: number;
}

export interface Shares {
  /** Of the deliveries that arrived, those that the URL which works had within a second. */
  readonly inTime: number;
  /**
   * Of the deliveries that arrived, those that the other URL had in the end, or by the time that the simulation ended.
   */
  readonly beside: number;
  /** Records written to retry topics, a delivery. */
  readonly retries: number;
}

/** Deliveries to a URL that works, and to one beside it that answers so; without that, to the one alone. */
export function sharesBeside(besideAnswers: ((nowMs: number) => Answer) | null, load: Load): Shares {
  const { settle, perSecond, minutes, users = 500 } = load;
  const urls = besideAnswers === null ? [WORKS] : [WORKS, BESIDE];
  const simulated = simulate(
    [destinationOf("two", urls, settle), destinationOf("other", ["https://other.example/"])],
    (url, nowMs) => (url === BESIDE ? (besideAnswers?.(nowMs) ?? WELL) : WELL),
  );
  const arrivedAtMs: number[] = [];
  let inTime = 0;
  let beside = 0;
  simulated.onServed = ({ url, messageId, servedAtMs }) => {
    if (url === BESIDE) beside += 1;
    if (url === WORKS && servedAtMs - (arrivedAtMs[Number(messageId)] ?? 0) <= IN_TIME_MS) inTime += 1;
  };
  const due = (elapsedMs: number) => Math.floor((elapsedMs / 1000) * perSecond);
  while (simulated.elapsedMs < minutes * 60_000) {
    simulated.pass(STEP_MS);
    while (arrivedAtMs.length < due(simulated.elapsedMs)) {
      const number = arrivedAtMs.push(simulated.elapsedMs);
      simulated.arrive("two", `${number - 1}`, `user-${number % users}`);
      if (number % 10 === 0) simulated.arrive("other", `other-${number}`, `user-${number}`);
    }
  }
  const arrived = arrivedAtMs.length;
  const retries = simulated.followUps.retry / arrived;
  simulated.pass(2 * IN_TIME_MS);
  simulated.end();
  return { inTime: inTime / arrived, beside: beside / arrived, retries };
}
