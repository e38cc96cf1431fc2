/**
 * The permit of one delivery to call its destination's URLs: asked for, perhaps waited for, and then given or refused.
 *
 * The destination's admission owns a permit until it gives or refuses it; then its sender does. One object serves from
 * the request to the end of the attempt, since this is the hot path.
 */
import type { UrlHealth } from "./url-health.ts";
import type { Waiter, WaitingQueue } from "./waiting-queue.ts";

/** Why admission defers a delivery: some of the values of the label `cause` of `posthaste_deferred_total`. */
export type DeferralCause = "breaker_open" | "concurrency_limit" | "window_full" | "retry_after";

/** Some or all URLs of a delivery that are not called now. */
export interface DeferredPart {
  readonly urls: readonly string[];
  readonly cause: DeferralCause;
  /**
   * The moment of the monotonic clock before which the URLs are not called, for `retry_after`; null for other causes.
   */
  readonly notBeforeMs: number | null;
}

/** The fields of a delivery that admission needs. */
export interface AdmissionRequest {
  /** The URLs that the delivery still owes; null for all of the destination's. */
  readonly owed: readonly string[] | null;
  /** The delivery comes from a retry topic. */
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
  /**
   * The delivery's last attempt (I3): it goes whatever stands against its URLs, but for the rate and the connection
   * budget.
   */
  readonly isLast: boolean;
  /**
   * The URLs that the delivery owes and that are not skipped; of a permit that is given, the URLs to call. In the
   * destination's order.
   */
  lines: readonly UrlLine<T>[];
  /** The URLs that were skipped, and after a refusal all the others too. */
  deferred: readonly DeferredPart[] = NOTHING;
  isGiven = false;
  /** When it was given, on the monotonic clock. */
  startedMs = 0;
  /**
   * For how many ms this process had been blocked in all when the permit was given; a whole number, so that storing it
   * allocates nothing.
   */
  blockedMs = 0;
  /** One bit for each of `lines`: the request to that URL is the probe of its breaker. */
  #probes = 0;

  constructor(request: T, lines: readonly UrlLine<T>[], isLast = false) {
    this.request = request;
    this.isRetry = request.isRetry;
    this.lines = lines;
    this.isLast = isLast;
  }

  /** Gives the permit for these URLs, and counts a request at each. */
  give(lines: readonly UrlLine<T>[], nowMs: number): void {
    this.lines = lines;
    this.isGiven = true;
    this.startedMs = nowMs;
    for (let index = 0; index < lines.length; index += 1) {
      const health = lines[index]?.health;
      if (this.isLast) health?.takeLast();
      else if (health?.take(nowMs)) this.#probes |= 1 << index;
    }
  }

  /** Whether the request to the URL at `index` of `lines` is the probe of its breaker. */
  wasProbe(index: number): boolean {
    return (this.#probes & (1 << index)) !== 0;
  }

  /**
   * Skips a URL: it is deferred by itself, or together with URLs that were skipped for the same cause and moment.
   */
  leaveOut(line: UrlLine<T>, cause: DeferralCause): void {
    this.lines = this.lines.filter((each) => each !== line);
    const part = partOf([line], cause);
    const sameCause = this.deferred.find((each) => each.cause === cause && each.notBeforeMs === part.notBeforeMs);
    this.deferred =
      sameCause === undefined
        ? [...this.deferred, part]
        : this.deferred.map((each) => (each === sameCause ? { ...each, urls: [...each.urls, ...part.urls] } : each));
  }

  /** Refuses the permit: leaves out every URL that is left, so that nothing of the delivery goes now. */
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
