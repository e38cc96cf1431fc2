/**
 * The destinations that are active in this process, each with its admission and with this process's counts of it.
 *
 * Owns: those admissions, the connection budget and the usual cost of an answer, which they share, the concurrency
 * limits that URLs of forgotten destinations reached, and the timer that forgets.
 * J2  A destination is forgotten when it was unused for `IDLE_MS`, has no retry backlog, and nothing stands against its
 *     URLs. When it was unused for `FORGET_MS` it is forgotten whatever stands against it, unless a request is out or a
 *     delivery waits. So memory follows the destinations in use (I4).
 * J3  A destination counts as alone when this process used no other for `ALONE_MS`. A canary is never alone, and keeps
 *     no other from being alone: it comes every ten seconds, whoever else there is.
 */

import { isCanaryId } from "@posthaste/contracts/canary-ids";
import { type AdmissionSettings, DestinationAdmission } from "@posthaste/core/isolation/admission";
import { UsualCost } from "@posthaste/core/isolation/answer-cost";
import { BREAKER_STATES, type BreakerState } from "@posthaste/core/isolation/circuit-breaker";
import { ConnectionBudget } from "@posthaste/core/isolation/connection-budget";
import { RememberedLimits } from "@posthaste/core/isolation/remembered-limits";
import type { CheckedDelivery } from "../check/checked-delivery.ts";
import type { DestinationState } from "../destination-series.ts";

const SWEEP_MS = 10_000;
const IDLE_MS = 60_000;
/** Longer than the quick retry tiers, from which a failing destination's deliveries keep returning. */
const FORGET_MS = 600_000;
const ALONE_MS = 300_000;
const HEARD_MS = 30_000;

export interface ActiveDestinationsOptions {
  readonly settings: AdmissionSettings;
  /** How many connections the sender has at the most. */
  readonly connections: number;
  readonly monotonicMs: () => number;
}

export interface ActiveDestination {
  readonly admission: DestinationAdmission<CheckedDelivery>;
  /** When the destination was last used, on the monotonic clock. */
  usedMs: number;
  /** When a request of the destination last began or ended, on the monotonic clock. */
  requestedMs: number;
  /** The destination's newest revision that this process saw. */
  revision: number;
  /** How many requests of last attempts have not ended (J5 of `admission.ts`). */
  reserved: number;
  /** How many deliveries went to retry topics and have not returned (I2). */
  retryBacklog: number;
}

export class ActiveDestinations {
  readonly connectionBudget: ConnectionBudget;
  readonly #options: ActiveDestinationsOptions;
  readonly #remembered: RememberedLimits;
  readonly #usualCost = new UsualCost();
  readonly #byId = new Map<string, ActiveDestination>();
  readonly #sweep: NodeJS.Timeout;
  #lastId = "";
  #lastOtherMs = Number.NEGATIVE_INFINITY;

  constructor(options: ActiveDestinationsOptions) {
    this.#options = options;
    this.connectionBudget = new ConnectionBudget(options.connections);
    this.#remembered = new RememberedLimits(options.settings.limit.first);
    this.#sweep = setInterval(() => this.#forgetIdle(), SWEEP_MS);
  }

  /** Returns the destination, and notes its use at `nowMs` of the monotonic clock. */
  use(destinationId: string, nowMs: number): ActiveDestination {
    if (destinationId !== this.#lastId && !isCanaryId(destinationId)) {
      if (this.#lastId !== "") this.#lastOtherMs = nowMs;
      this.#lastId = destinationId;
    }
    const known = this.#byId.get(destinationId);
    if (known !== undefined) {
      known.usedMs = nowMs;
      return known;
    }
    const destination = this.#create(destinationId, nowMs);
    this.#byId.set(destinationId, destination);
    return destination;
  }

  /** Returns the destination without using it; undefined when it is not active. */
  peek(destinationId: string): ActiveDestination | undefined {
    return this.#byId.get(destinationId);
  }

  /** Whether the destination, which was used last, is alone (J3). */
  isAlone(destinationId: string, nowMs: number): boolean {
    return nowMs - this.#lastOtherMs >= ALONE_MS && !isCanaryId(destinationId);
  }

  /** How many URLs have a breaker in each state. */
  breakers(): Record<BreakerState, number> {
    const counts = Object.fromEntries(BREAKER_STATES.map((state) => [state, 0])) as Record<BreakerState, number>;
    for (const { admission } of this.#byId.values()) {
      for (const { breaker } of admission.urls) counts[breaker.state] += 1;
    }
    return counts;
  }

  /** Whether a request of the destination began or ended lately: one whose end was lost holds no partition for ever. */
  wasHeardLately(destinationId: string, nowMs: number): boolean {
    const active = this.#byId.get(destinationId);
    return active !== undefined && nowMs - active.requestedMs <= HEARD_MS;
  }

  /** The state of each active destination, for its metrics. */
  *states(): Iterable<readonly [string, DestinationState]> {
    for (const [id, { admission, retryBacklog }] of this.#byId) {
      const { urls } = admission;
      const state: DestinationState = {
        inFlight: urls.reduce((sum, { out }) => sum + out, 0),
        limit: urls.reduce((sum, { limit }) => sum + limit, 0),
        waiting: admission.waiting + retryBacklog,
        isBreakerOpen: urls.some(({ breaker }) => breaker.state !== "closed"),
      };
      yield [id, state];
    }
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  #create(destinationId: string, nowMs: number): ActiveDestination {
    const { settings, monotonicMs } = this.#options;
    const rememberedLimitOf = (url: string) => this.#remembered.of(keyOf(destinationId, url), monotonicMs());
    const { connectionBudget } = this;
    const admission = new DestinationAdmission<CheckedDelivery>(
      settings,
      connectionBudget,
      rememberedLimitOf,
      this.#usualCost,
    );
    return {
      admission,
      usedMs: nowMs,
      requestedMs: Number.NEGATIVE_INFINITY,
      revision: -1,
      reserved: 0,
      retryBacklog: 0,
    };
  }

  /** J2. */
  #forgetIdle(): void {
    const nowMs = this.#options.monotonicMs();
    for (const [id, { admission, usedMs, retryBacklog }] of this.#byId) {
      const unusedMs = nowMs - usedMs;
      const isIdle = unusedMs >= IDLE_MS && retryBacklog === 0 && admission.isIdle(nowMs);
      if (!isIdle && !(unusedMs >= FORGET_MS && admission.isEmpty)) continue;
      for (const { url, limit } of admission.urls) this.#remembered.note(keyOf(id, url), limit, nowMs);
      this.#byId.delete(id);
    }
  }
}

function keyOf(destinationId: string, url: string): string {
  return `${destinationId} ${url}`;
}
