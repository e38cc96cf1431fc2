/** The admission of a process whose attempts and deferrals the test sees, and whose time the test lets pass. */
import type { Destination } from "@posthaste/core/config/destination";
import { type DeliveryProgress, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import type { AdmissionSettings } from "@posthaste/core/isolation/admission";
import type { DeferralCause, DeferredPart } from "@posthaste/core/isolation/permit";
import type { RequestOutcome } from "@posthaste/core/isolation/url-health";
import { afterEach, beforeEach, vi } from "vitest";
import { ActiveDestinations } from "../src/admission/active-destinations.ts";
import { Admission } from "../src/admission/admission.ts";
import type { DeliveryPermit } from "../src/admission/attempt-port.ts";
import { RetryBacklog } from "../src/admission/retry-backlog.ts";
import type { CheckedDelivery } from "../src/check/checked-delivery.ts";

const SETTINGS: AdmissionSettings = {
  limit: { first: 2, least: 1, enough: 64, most: 64 },
  breaker: { threshold: 3, firstOpenMs: 1000, longestOpenMs: 8000 },
  longestWaitMs: 10_000,
};

export const CONNECTIONS = 64;

/** The wall clock's time where the monotonic one shows 0, in ms since the epoch. */
export const EPOCH_MS = 1_790_000_000_000;

/** A retry window that is over, of a delivery that is owed its last attempt. */
const OVER: DeliveryProgress = { ...NO_PROGRESS, windowStartMs: 0, deadlineMs: 1 };

export interface FakeWindow {
  isFull: boolean;
  isRevoked: boolean;
  records: number;
  maxRecords: number;
  ownedBy: (owner: string) => number;
}

export const openWindow = (): FakeWindow => ({
  isFull: false,
  isRevoked: false,
  records: 1,
  maxRecords: 500,
  ownedBy: () => 1,
});
/** More than three quarters full. */
export const fillingWindow = (): FakeWindow => ({ ...openWindow(), records: 376 });

interface CheckedOptions {
  readonly window?: FakeWindow;
  readonly isRetry?: boolean;
  readonly revision?: number;
  readonly urls?: readonly string[];
  readonly rateLimitPerSecond?: number | null;
  readonly settle?: Destination["settle"];
  /** The URLs that the delivery is owed to alone. */
  readonly owed?: readonly string[] | null;
}

/** A delivery as admission sees it; the fields that it does not look at are left out. */
export function checked(destinationId: string, options: CheckedOptions = {}): CheckedDelivery {
  const { window = openWindow(), isRetry = false, revision = 1, urls, rateLimitPerSecond = null } = options;
  const { settle = "any", owed = null } = options;
  const own = (urls ?? [`https://${destinationId}.example/`]).map((url) => ({ url, headers: {} }));
  const destination = { id: destinationId, revision, rateLimitPerSecond, settle, urls: own };
  return {
    destination: destination as unknown as Destination,
    isRetry,
    owed,
    requests: (owed ?? own).length,
    progress: NO_PROGRESS,
    delivery: { receivedAtMs: 1_790_000_999_000 },
    task: { window, item: { deferralOnArrival: null } },
  } as unknown as CheckedDelivery;
}

interface Deferred {
  readonly checked: CheckedDelivery;
  readonly parts: readonly Pick<DeferredPart, "cause" | "notBeforeMs">[];
}

/** Owns vitest's fake timers until `end`. */
class ObservedAdmission {
  nowMs = 1_000_000;
  sent: DeliveryPermit[] = [];
  readonly firstDelaysMs: number[] = [];
  /** False: every delivery is to be checked again before it is sent. */
  isCurrent = true;
  readonly deferred: Deferred[] = [];
  readonly checkedAgain: CheckedDelivery[] = [];
  readonly retryBacklog: RetryBacklog;
  readonly admission: Admission;
  readonly destinations: ActiveDestinations;
  #deferredLast = 0;

  constructor(settings: AdmissionSettings, connections: number) {
    vi.useFakeTimers();
    const monotonicMs = () => this.nowMs;
    this.destinations = new ActiveDestinations({ settings, connections, monotonicMs });
    this.retryBacklog = new RetryBacklog(this.destinations, monotonicMs);
    const defer = (late: CheckedDelivery, cause: DeferralCause, notBeforeMs: number | null): CheckedDelivery | null => {
      if (late.progress === OVER) return { ...late, progress: NO_PROGRESS };
      this.deferred.push({ checked: late, parts: [{ cause, notBeforeMs }] });
      return null;
    };
    this.admission = new Admission({
      destinations: this.destinations,
      attempts: { start: (permit) => this.sent.push(permit) },
      onFirstAttempt: (delayMs) => this.firstDelaysMs.push(delayMs),
      deferrals: {
        defer,
        deferParts: (late, parts) => this.deferred.push({ checked: late, parts }),
        deferLastAttempt: () => {
          this.#deferredLast += 1;
        },
      },
      recheck: {
        isCurrent: () => this.isCurrent,
        renew: (again) => {
          this.checkedAgain.push(again);
          return null;
        },
      },
      retryWindowMs: 60_000,
      clock: { nowMs: () => EPOCH_MS + this.nowMs, monotonicMs },
    });
  }

  admit(delivery: CheckedDelivery): void {
    this.admission.admit(delivery);
  }

  /** A delivery whose window is over and that is owed its last attempt; false when that found no place. */
  admitLast(delivery: CheckedDelivery): boolean {
    const deferredBefore = this.#deferredLast;
    this.admission.admit({ ...delivery, progress: OVER });
    return this.#deferredLast === deferredBefore;
  }

  finish(permit: DeliveryPermit | undefined, outcome: RequestOutcome): void {
    if (permit === undefined) throw new Error("nothing was sent");
    for (const index of permit.lines.keys()) {
      this.admission.settled(permit, index, outcome, null);
      this.admission.ended(permit, index, outcome === "delivered" || outcome === "refused" ? "well" : "failed", 0);
    }
  }

  causes(): readonly DeferralCause[] {
    return this.deferred.flatMap(({ parts }) => parts.map(({ cause }) => cause));
  }

  /** Time passes, and the timers see it. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= 20) {
      this.nowMs += Math.min(left, 20);
      vi.advanceTimersByTime(Math.min(left, 20));
    }
  }

  end(): void {
    this.admission.close();
    this.destinations.close();
    vi.useRealTimers();
  }
}

/** The admission of the running test. */
export let observed: ObservedAdmission;

/** To be called at the top of a test file: each of its tests has an admission of its own, with few connections. */
export function observeAdmission(): void {
  beforeEach(() => {
    observed = new ObservedAdmission(SETTINGS, CONNECTIONS);
  });
  afterEach(() => observed.end());
}

/** The running test wants another admission than that: with more connections, or a greater limit at first. */
export function observeAnother({ connections = CONNECTIONS, firstLimit = SETTINGS.limit.first }): void {
  observed.end();
  observed = new ObservedAdmission({ ...SETTINGS, limit: { ...SETTINGS.limit, first: firstLimit } }, connections);
}
