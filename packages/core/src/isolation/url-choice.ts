/**
 * Which of a delivery's URLs are called now, by the state of each and by the destination's settle rule. The choice
 * changes nothing but the permit's list of URLs that are skipped. admission.ts defines rules AD1 to AD5.
 *
 * UC1  Under `settle: any` a delivery goes when one of its sound URLs can take it. It waits for its other sound URLs
 *      too, unless they are healthy and have `limit.most` requests out or get no connection from the budget. A URL that
 *      is not sound is called beside the others while it has capacity, and is skipped otherwise. A URL that must not
 *      be waited for any longer is skipped where another is sound.
 * UC2  Under `settle: each` a URL with a lasting obstacle is skipped and deferred apart. So is, beside a sound URL,
 *      one whose breaker is not closed, or that is neither sound nor has capacity. A URL without capacity that will not
 *      have some soon (rule UH6 of url-health.ts) is skipped where another URL can take the delivery now. The probe of
 *      a breaker is then left to a delivery that owes that URL alone, since a probe that hangs holds up the deliveries
 *      behind it.
 */
import type { SettleRule } from "../config/destination.ts";
import type { DestinationRate } from "./destination-rate.ts";
import type { AdmissionRequest, Permit, UrlLine } from "./permit.ts";
import type { Obstacle } from "./url-health.ts";

/** An obstacle for which no delivery waits in the window; as a choice, one against every URL of the delivery. */
export type LastingObstacle = Exclude<Obstacle, "soon">;

/**
 * The choice for a delivery now: the URLs to call (none when all were skipped), or the one URL that it waits for, or
 * the reason of its deferral.
 */
export type UrlChoice<T extends AdmissionRequest> = readonly UrlLine<T>[] | UrlLine<T> | LastingObstacle;

export class UrlChooser<T extends AdmissionRequest> {
  readonly #settle: SettleRule;
  readonly #rate: DestinationRate;

  constructor(settle: SettleRule, rate: DestinationRate) {
    this.#settle = settle;
    this.#rate = rate;
  }

  /** `isHead`: the delivery is the head of the queue that it waits in, so that no other delivery goes before it. */
  choose(permit: Permit<T>, nowMs: number, isHead: boolean): UrlChoice<T> {
    const [only] = permit.lines;
    if (only !== undefined && permit.lines.length === 1) return this.#chooseOnly(permit, only, nowMs, isHead);
    return this.#settle === "any" ? this.#chooseAny(permit, nowMs, isHead) : this.#chooseEach(permit, nowMs, isHead);
  }

  #chooseOnly(permit: Permit<T>, line: UrlLine<T>, nowMs: number, isHead: boolean): UrlChoice<T> {
    const obstacle = line.health.obstacle(nowMs);
    if (obstacle === "breaker_open" || obstacle === "retry_after") return obstacle;
    const isFree = obstacle === null && (isHead || line.queue.length === 0);
    return isFree && this.#rate.allows(nowMs) && line.health.hasCapacity() ? permit.lines : line;
  }

  /** UC1. */
  #chooseAny({ lines }: Permit<T>, nowMs: number, isHead: boolean): UrlChoice<T> {
    const usable = lines.filter(({ health }) => lastingObstacle(health.obstacle(nowMs)) === null);
    if (usable.length === 0) {
      return lines.every(({ health }) => health.obstacle(nowMs) === "retry_after") ? "retry_after" : "breaker_open";
    }
    const sound = usable.filter(({ health }) => health.isSound);
    const candidates = sound.length > 0 ? sound : usable;
    const canLead = candidates.some((line) => isFree(line, nowMs, isHead));
    if (!canLead || !this.#rate.allows(nowMs)) return quickest(candidates, nowMs);
    const called: UrlLine<T>[] = [];
    for (const line of usable) {
      const { health } = line;
      const isSound = sound.includes(line);
      if (health.obstacle(nowMs) === null && (isSound ? health.hasCapacityBeside() : health.hasCapacity())) {
        called.push(line);
      } else if (isSound && !health.isHealthy) {
        // A sound URL that is not known to answer yet is waited for; every other one is skipped in this attempt.
        return line;
      }
    }
    return called;
  }

  /** UC2. */
  #chooseEach(permit: Permit<T>, nowMs: number, isHead: boolean): UrlChoice<T> {
    leaveOutUnsound(permit, nowMs);
    if (permit.lines.length === 0) return permit.lines;
    const hasRate = this.#rate.allows(nowMs);
    if (permit.lines.every((line) => isFree(line, nowMs, isHead))) {
      return hasRate ? permit.lines : (permit.lines[0] ?? permit.lines);
    }
    const goesNow = hasRate && permit.lines.some((line) => isFree(line, nowMs, isHead));
    let late: UrlLine<T> | null = null;
    let prompt: UrlLine<T> | null = null;
    for (const line of permit.lines) {
      if (isFree(line, nowMs, isHead)) continue;
      if (!isLate(line, isHead ? 0 : line.queue.ahead(permit.isRetry), nowMs)) prompt ??= line;
      else if (goesNow) permit.leaveOut(line, "concurrency_limit");
      else late ??= line;
    }
    return prompt ?? late ?? permit.lines;
  }
}

/**
 * UC2: leaves out each URL with a lasting obstacle and, beside a sound one, each whose breaker is not closed, and each
 * that is neither sound nor has capacity.
 */
function leaveOutUnsound<T extends AdmissionRequest>(permit: Permit<T>, nowMs: number): void {
  const hasSound = permit.lines.some((line) => isSoundNow(line, nowMs));
  for (const line of permit.lines) {
    const { health, queue } = line;
    const obstacle = lastingObstacle(health.obstacle(nowMs));
    if (obstacle !== null) permit.leaveOut(line, obstacle);
    else if (hasSound && health.breaker.state !== "closed") permit.leaveOut(line, "breaker_open");
    else if (hasSound && !health.isSound && (queue.length > 0 || !health.hasCapacity())) {
      permit.leaveOut(line, "concurrency_limit");
    }
  }
}

/** Whether the URL can take the delivery now, and no other delivery waits for it before this one. */
function isFree<T extends AdmissionRequest>({ health, queue }: UrlLine<T>, nowMs: number, isHead: boolean): boolean {
  return health.obstacle(nowMs) === null && (isHead || queue.length === 0) && health.hasCapacity();
}

/** Whether the URL is sound (rule UH3 of url-health.ts) and has no lasting obstacle. */
export function isSoundNow<T extends AdmissionRequest>({ health }: UrlLine<T>, nowMs: number): boolean {
  return health.isSound && lastingObstacle(health.obstacle(nowMs)) === null;
}

/**
 * UC2: whether a delivery that another URL could take now does not wait for this one, behind `ahead` other deliveries.
 */
export function isLate<T extends AdmissionRequest>({ health }: UrlLine<T>, ahead: number, nowMs: number): boolean {
  if (health.obstacle(nowMs) === null && health.hasCapacity()) return false;
  return !health.isWaitedForBeside(ahead, nowMs);
}

/** The obstacle, if no delivery waits for its end in the window; null for none, and for an obstacle that ends soon. */
export function lastingObstacle(obstacle: Obstacle | null): LastingObstacle | null {
  return obstacle === "soon" ? null : obstacle;
}

/** The URL that a delivery waits for shortest. */
function quickest<T extends AdmissionRequest>(lines: readonly UrlLine<T>[], nowMs: number): UrlChoice<T> {
  let best: UrlLine<T> | null = null;
  let bestMs = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const waitMs = line.health.expectedWaitMs(line.queue.length, nowMs);
    if (best !== null && waitMs >= bestMs) continue;
    best = line;
    bestMs = waitMs;
  }
  return best ?? [];
}
