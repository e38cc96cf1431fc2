/**
 * The permit of one delivery to call its destination's URLs: asked for, perhaps waited for, and then given or refused.
 *
 * Its destination's admission owns it until it is given, and then whoever sends. It is one object from the request
 * to the end of the attempt, since this is the hot path.
 */
import type { UrlHealth } from "./url-health.ts";
import type { Waiter, WaitingQueue } from "./waiting-queue.ts";

/**
 * Why a delivery is deferred; the label `cause` of `posthaste_deferred_total`, with those that admission does not know.
 */
export type DeferralCause = "breaker_open" | "concurrency_limit" | "window_full" | "retry_after";

/** URLs of a delivery, some or all, that are not called now. */
export interface DeferredPart {
  readonly urls: readonly string[];
  readonly cause: DeferralCause;
  /** Not before this moment of the monotonic clock, for `retry_after`; else null. */
  readonly notBeforeMs: number | null;
}

/** What asks for admission. */
export interface AdmissionRequest {
  /** The URLs that the delivery still owes; null for all of the destination's. */
  readonly owed: readonly string[] | null;
  /** It comes from a retry topic. */
  readonly isRetry: boolean;
}

/** One URL of a destination and the deliveries that wait for it. */
export interface UrlLine<T extends AdmissionRequest> {
  readonly health: UrlHealth;
  readonly queue: WaitingQueue<Permit<T>>;
}

const NOTHING: readonly DeferredPart[] = [];

export class Permit<T extends AdmissionRequest> implements Waiter {
  readonly request: T;
  readonly isRetry: boolean;
  /** The attempt goes whatever stands against its URLs but for the rate: the delivery's retry window is over (I3). */
  readonly isLast: boolean;
  /** Once given: the URLs to call, in the destination's order. */
  lines: readonly UrlLine<T>[];
  /** Under `settle: each`: URLs that are owed and not to be called now. */
  deferred: readonly DeferredPart[] = NOTHING;
  isGiven = false;
  /** When it was given, on the monotonic clock. */
  startedMs = 0;
  /** What this process had been blocked for in all when it was given; whole, so that it costs no allocation. */
  blockedMs = 0;
  /** One bit for each of `lines`: the request to it is its breaker's probe. */
  #probes = 0;

  constructor(request: T, lines: readonly UrlLine<T>[], isLast = false) {
    this.request = request;
    this.isRetry = request.isRetry;
    this.lines = lines;
    this.isLast = isLast;
  }

  /** Counts a request at each of these URLs: the delivery is sent to them now. */
  give(lines: readonly UrlLine<T>[], nowMs: number): void {
    this.lines = lines;
    this.isGiven = true;
    this.startedMs = nowMs;
    for (let index = 0; index < lines.length; index += 1) {
      const health = lines[index]?.health;
      if (this.isLast) health?.takeReserve();
      else if (health?.take(nowMs)) this.#probes |= 1 << index;
    }
  }

  /** Whether the request to the URL at `index` of `lines` is its breaker's probe. */
  wasProbe(index: number): boolean {
    return (this.#probes & (1 << index)) !== 0;
  }

  /** Leaves a URL out: it is deferred by itself, or with the URLs that were left out for the same cause. */
  leaveOut(line: UrlLine<T>, cause: DeferralCause): void {
    this.lines = this.lines.filter((each) => each !== line);
    const part = partOf([line], cause);
    const alike = this.deferred.find((each) => each.cause === cause && each.notBeforeMs === part.notBeforeMs);
    this.deferred =
      alike === undefined
        ? [...this.deferred, part]
        : this.deferred.map((each) => (each === alike ? { ...each, urls: [...each.urls, ...part.urls] } : each));
  }

  /** Leaves out every URL that is left: nothing of the delivery goes now. */
  refuse(cause: DeferralCause): void {
    if (this.deferred.length === 0) this.deferred = [partOf(this.lines, cause)];
    else for (const line of this.lines) this.leaveOut(line, cause);
    this.lines = [];
  }
}

function partOf<T extends AdmissionRequest>(lines: readonly UrlLine<T>[], cause: DeferralCause): DeferredPart {
  const notBeforeMs = cause === "retry_after" ? Math.min(...lines.map(({ health }) => health.shutUntilMs)) : null;
  return { urls: lines.map(({ health }) => health.url), cause, notBeforeMs };
}
