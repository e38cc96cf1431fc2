/**
 * Every destination's health, judged by its configuration, by the reports of delivery processes, and by its waiting
 * deliveries.
 *
 * Owns nothing: at every question it asks the configuration and the health book, and the read model for waiting
 * deliveries and dead letters, without which it answers too.
 */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Destination } from "@posthaste/core/config/destination";
import type { RequestError } from "@posthaste/core/delivery/outcome";
import type { DestinationHealth, FailedRequests } from "@posthaste/core/health/health-record";
import {
  FAILING_WINDOW_MS,
  HEALTH_STATES,
  type HealthState,
  isRecovered,
  type JudgedHealth,
  judgeHealth,
  needsAttention,
} from "@posthaste/core/health/health-state";
import { latencyAt } from "@posthaste/core/health/latency-counts";
import type { PastAttempts } from "@posthaste/core/health/past-attempts";
import type { DeadLetterSums } from "@posthaste/read-model/dead-letter-hours";
import type { WaitingDeliveries, WaitingTimes } from "@posthaste/read-model/delivery-table";
import { MINUTE_MS } from "@posthaste/read-model/health-table";
import type { ReadModel } from "@posthaste/read-model/read-model";
import type { HealthBook } from "./health-book.ts";

const WINDOW_STEPS = FAILING_WINDOW_MS / MINUTE_MS;
const HOUR_STEPS = 60;
/** The minutes of a part of the hour. */
const PART_STEPS = 5;
const PARTS = HOUR_STEPS / PART_STEPS;
const TIMEOUT: RequestError = "timeout";

export interface KnownHealthParts {
  readonly book: HealthBook;
  readonly destinations: Pick<ConfigStore<Destination>, "get" | "find" | "values">;
  readonly readModel: Pick<ReadModel, "waitingTimes" | "waiting">;
  /** How many dead letters of a destination may be shown; rejects while the read model cannot be asked. */
  readonly deadLetters: (destinationId: string) => Promise<DeadLetterSums>;
  readonly nowMs: () => number;
}

/** A destination with its judged health, and with the reports on it by the processes that count. */
export interface KnownDestination {
  readonly destination: Destination;
  readonly judged: JudgedHealth;
  readonly held: readonly DestinationHealth[];
  /** HB6 of health-book.ts. */
  readonly past: PastAttempts | null;
}

/** The results of the last five minutes and of the last hour. */
export interface RecentResults {
  readonly attempts: number;
  /** Shares from 0 to 1; null without an attempt. */
  readonly success: number | null;
  readonly successOfHour: number | null;
  /** Attempts of the hour by five minutes, oldest first. */
  readonly lastHour: Readonly<Record<"delivered" | "failed", readonly number[]>>;
  /** The failed requests of the hour by URL and answer, the most frequent first. */
  readonly failures: readonly FailedRequests[];
  /** The share of requests that timed out; null without a request. */
  readonly timeouts: number | null;
  /** Ms; null without a request. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** The read model's facts about a destination. */
export interface LoggedHealth extends WaitingTimes {
  readonly deadLetters: DeadLetterSums;
}

/** The waiting deliveries by destination; null while the read model cannot be asked. */
export type WaitingByDestination = ReadonlyMap<string, readonly WaitingDeliveries[]> | null;

export class KnownHealth {
  readonly #parts: KnownHealthParts;

  constructor(parts: KnownHealthParts) {
    this.#parts = parts;
  }

  get(destinationId: string): KnownDestination | undefined {
    const destination = this.#parts.destinations.get(destinationId);
    return destination === undefined ? undefined : this.#judge(destination);
  }

  /** As `get`, for an answer that says that there is none (NH1 of late-records.ts). */
  async find(destinationId: string): Promise<KnownDestination | undefined> {
    const destination = await this.#parts.destinations.find(destinationId);
    return destination === undefined ? undefined : this.#judge(destination);
  }

  /** All destinations, the worst first: by state, then by how long they have been in it. */
  all(): readonly KnownDestination[] {
    const known = Array.from(this.#parts.destinations.values(), (destination) => this.#judge(destination));
    return known.sort((a, b) => comparePlaces(placeOf(a), placeOf(b)));
  }

  recent(destinationId: string): RecentResults {
    const { book, nowMs } = this.#parts;
    const recent = book.recent(destinationId);
    if (recent === undefined) return NO_RESULTS;
    const now = nowMs();
    const window = recent.attempts(now, WINDOW_STEPS);
    const hour = recent.attempts(now, HOUR_STEPS);
    const parts = PARTS_BACK.map((back) => recent.attempts(now, PART_STEPS, back * PART_STEPS));
    const latencies = recent.latencies(now, WINDOW_STEPS);
    const failures = book.failures(destinationId);
    const timedOut = (failures?.failed(now, WINDOW_STEPS) ?? []).filter(({ answer }) => answer === TIMEOUT);
    return {
      attempts: window.delivered + window.failed,
      success: shareOf(window.delivered, window.failed),
      successOfHour: shareOf(hour.delivered, hour.failed),
      lastHour: { delivered: parts.map(({ delivered }) => delivered), failed: parts.map(({ failed }) => failed) },
      failures: failures?.failed(now, HOUR_STEPS) ?? [],
      timeouts: partOf(sumOf(timedOut.map(({ count }) => count)), sumOf(latencies)),
      p50Ms: latencyAt(latencies, 0.5),
      p99Ms: latencyAt(latencies, 0.99),
    };
  }

  async waiting(): Promise<WaitingByDestination> {
    const waiting = await this.#parts.readModel.waiting().catch(() => null);
    if (waiting === null) return null;
    const byDestination = new Map<string, WaitingDeliveries[]>();
    for (const each of waiting) {
      const held = byDestination.get(each.destinationId);
      if (held === undefined) byDestination.set(each.destinationId, [each]);
      else held.push(each);
    }
    return byDestination;
  }

  async logged(destinationId: string): Promise<LoggedHealth | null> {
    const { readModel, nowMs } = this.#parts;
    try {
      const [deadLetters, times] = await Promise.all([
        this.#parts.deadLetters(destinationId),
        readModel.waitingTimes(destinationId, nowMs()),
      ]);
      return { deadLetters, ...times };
    } catch {
      return null;
    }
  }

  /** The destinations that need somebody's attention (HJ3 of health-state.ts), in their order. */
  async needingAttention(all: readonly KnownDestination[]): Promise<readonly KnownDestination[]> {
    const waiting = all.some(({ judged }) => isRecovered(judged)) ? await this.waiting() : null;
    const needs = await Promise.all(
      all.map(async (each) => {
        if (!isRecovered(each.judged)) return this.needs(each, waiting, null);
        const deadLetters = await this.#parts.deadLetters(each.destination.id).catch(() => null);
        return this.needs(each, waiting, deadLetters);
      }),
    );
    return all.filter((_, index) => needs[index]);
  }

  /** HJ3, by the read model's facts; null where the read model cannot be asked. */
  needs(
    { destination, judged }: KnownDestination,
    waiting: WaitingByDestination,
    deadLetters: DeadLetterSums | null,
  ): boolean {
    const ofIt = waiting?.get(destination.id) ?? [];
    const owed = {
      openDeadLetters: deadLetters?.open ?? null,
      waiting: waiting === null ? null : sumOf(ofIt.map(({ count }) => count)),
    };
    return needsAttention(judged, owed, this.#parts.nowMs());
  }

  #judge(destination: Destination): KnownDestination {
    const { book, nowMs } = this.#parts;
    const { id, enabled: isEnabled, updatedAtMs } = destination;
    const [held, past, recent, now] = [book.of(id), book.past(id), book.recent(id), nowMs()];
    const attempts = recent?.attempts(now, WINDOW_STEPS) ?? { delivered: 0, failed: 0 };
    const of = { isEnabled, updatedAtMs, urls: destination.urls.map(({ url }) => url) };
    const judged = judgeHealth(of, held, { ...attempts, failingSinceMs: recent?.failingSinceMs(now) ?? null }, past);
    return { destination, judged, held, past };
  }
}

/** How many parts back each part of the hour is, the oldest first. */
const PARTS_BACK = Array.from({ length: PARTS }, (_, part) => PARTS - 1 - part);
const NOTHING: readonly number[] = PARTS_BACK.map(() => 0);
const NO_RESULTS: RecentResults = {
  ...{ attempts: 0, success: null, successOfHour: null, lastHour: { delivered: NOTHING, failed: NOTHING } },
  ...{ failures: [], timeouts: null, p50Ms: null, p99Ms: null },
};

function shareOf(delivered: number, failed: number): number | null {
  return partOf(delivered, delivered + failed);
}

function partOf(some: number, all: number): number | null {
  return all === 0 ? null : Math.min(1, some / all);
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The place of a destination in the list. */
export interface HealthPlace {
  readonly state: HealthState;
  readonly sinceMs: number;
  readonly id: string;
}

export function placeOf({ destination: { id }, judged: { state, sinceMs } }: KnownDestination): HealthPlace {
  return { state, sinceMs: sinceMs ?? 0, id };
}

export function comparePlaces(a: HealthPlace, b: HealthPlace): number {
  const byState = HEALTH_STATES.indexOf(a.state) - HEALTH_STATES.indexOf(b.state);
  return byState || a.sinceMs - b.sinceMs || (a.id < b.id ? -1 : Number(a.id > b.id));
}
