/** The health of a destination as the API shows it. */
import { ATTEMPT_OUTCOMES } from "@posthaste/core/delivery/outcome";
import { OTHER } from "@posthaste/core/event/event";
import type { LastAnswer } from "@posthaste/core/health/health-record";
import { HEALTH_STATES } from "@posthaste/core/health/health-state";
import { mergeUrls } from "@posthaste/core/health/merged-urls";
import { BREAKER_STATES } from "@posthaste/core/isolation/circuit-breaker";
import { isoTime, isoTimeOrNull, tenths } from "@posthaste/http-kit/moment";
import type { WaitingDeliveries } from "@posthaste/read-model/delivery-table";
import { z } from "zod";
import type { KnownDestination, LoggedHealth, RecentResults } from "./known-health.ts";

/** The most kinds of failure that are shown of one URL. */
const MOST_FAILURES = 5;

const time = z.iso.datetime();

const answer = z.object({
  time,
  outcome: z.enum([...ATTEMPT_OUTCOMES, OTHER]),
  status: z.int().nullable(),
  error: z.string().nullable().describe("Null when a status arrived."),
  durationMs: z.number(),
});

export const waitingAnswer = z.object({
  total: z.int().describe("In retry topics, and in delivery processes."),
  inProcess: z.int().describe("In delivery processes, for a permit."),
  deferred: z.int().describe("In retry topics without a request; in which is not known."),
  topics: z
    .array(z.object({ delayMs: z.int(), count: z.int() }))
    .describe("In retry topics after an attempt, by the topic's delay."),
});

export const healthAnswer = z.object({
  destinationId: z.string(),
  name: z.string(),
  state: z
    .enum(HEALTH_STATES)
    .describe(
      "off: switched off. open: a breaker of a delivery process is not closed. failing: over 5 % of five minutes' " +
        "attempts failed, or the newest did and nothing was delivered since, before a restart too. Else healthy.",
    ),
  since: time.nullable().describe("Null for one that was always well, as far as that is known."),
  needsSomebody: z
    .boolean()
    .describe(
      "open, or failing: but not where it delivers again, has no open dead letters, and either nothing waits or no " +
        "attempt failed for a minute.",
    ),
  deliversAgainSince: time
    .nullable()
    .describe("failing, though no attempt failed since then: of five minutes' attempts too many failed. Else null."),
  reason: z
    .object({ url: z.string(), ...answer.shape })
    .nullable()
    .describe("The newest failure; null where it is well, or off."),
  nextProbe: time.nullable().describe("open: when a breaker lets the next request through."),
  nextRetry: time
    .nullable()
    .describe(
      "When the next delivery that failed is tried again; null where none is to come, and as with `waiting`. One that " +
        "is overdue is not counted.",
    ),
  givesUp: z
    .object({ first: time, last: time })
    .nullable()
    .describe(
      "When the first and the last of those that wait after an attempt are given up, where they are not delivered " +
        "before; null where none waits, and as with `waiting`.",
    ),
  attempts: z.int().describe("Of five minutes."),
  success: z.number().nullable().describe("The share of those that delivered, 0 to 1; null without an attempt."),
  successOfHour: z.number().nullable().describe("The same of an hour."),
  lastHour: z
    .object({ delivered: z.array(z.int()), failed: z.array(z.int()) })
    .describe("Attempts of an hour by five minutes: twelve of each, oldest first; the last five minutes are not over."),
  timeouts: z
    .number()
    .nullable()
    .describe("The share of five minutes' requests that had no answer in time, 0 to 1; null without a request."),
  p50Ms: z.number().nullable().describe("From the start of a request to its outcome, of five minutes."),
  p99Ms: z.number().nullable(),
  inFlight: z.int().describe("Requests that have not ended."),
  waiting: waitingAnswer.nullable().describe("Null while the delivery log cannot be asked."),
  deadLetters: z
    .int()
    .nullable()
    .describe(
      "Open ones of the last 14 days: neither delivered since nor sent again in vain, which left a newer one; those of " +
        "suppressed users and purged ones left out. Null as with `waiting`.",
    ),
  deliveredSince: z
    .int()
    .nullable()
    .describe("Other dead letters, which an attempt delivered that began after they had died; null as with `waiting`."),
  urls: z.array(
    z.object({
      url: z.string(),
      breaker: z.enum([...BREAKER_STATES, OTHER]).describe("The worst of all delivery processes'."),
      openSince: time.nullable(),
      nextProbe: time.nullable(),
      notBefore: time.nullable().describe("Until when the receiver asked not to be called (`Retry-After`)."),
      inFlight: z.int(),
      answer: answer.nullable().describe("The last; null before the first."),
      failures: z
        .array(z.object({ answer: z.string(), count: z.int() }))
        .describe(
          `Requests of an hour that did not deliver, by status or code, the most first; ${MOST_FAILURES} at most.`,
        ),
    }),
  ),
  processes: z.int().describe("Delivery processes that say something of it."),
});
export type HealthAnswer = z.output<typeof healthAnswer>;

export interface LiveHealth {
  readonly recent: RecentResults;
  readonly waiting: readonly WaitingDeliveries[] | null;
  readonly logged: LoggedHealth | null;
  readonly needsSomebody: boolean;
}

export function viewHealth(known: KnownDestination, reported: LiveHealth): HealthAnswer {
  const { recent, waiting, logged, needsSomebody } = reported;
  return {
    ...viewHealthNow(known, recent),
    needsSomebody,
    nextRetry: isoTimeOrNull(logged?.nextDueMs ?? null),
    givesUp: logged === null ? null : viewGivesUp(logged),
    waiting: waiting === null ? null : viewWaiting(waiting, inProcess(known.held)),
    deadLetters: logged?.deadLetters.open ?? null,
    deliveredSince: logged?.deadLetters.deliveredSince ?? null,
  };
}

/** The fields that the delivery log must be asked for. */
type LoggedField = "needsSomebody" | "nextRetry" | "givesUp" | "waiting" | "deadLetters" | "deliveredSince";

/** The health without a query of the delivery log. */
export function viewHealthNow(
  { destination, judged, held, past }: KnownDestination,
  recent: RecentResults,
): Omit<HealthAnswer, LoggedField> {
  const { reason } = judged;
  const urls = mergeUrls(
    destination.urls.map(({ url }) => url),
    past === null ? held : [...held, past],
  );
  const { attempts, success, successOfHour, lastHour, failures, timeouts, p50Ms, p99Ms } = recent;
  return {
    destinationId: destination.id,
    name: destination.name,
    state: judged.state,
    since: isoTimeOrNull(judged.sinceMs),
    deliversAgainSince: isoTimeOrNull(judged.deliversAgainSinceMs),
    reason: reason === null ? null : { url: reason.url, ...viewAnswer(reason) },
    nextProbe: isoTimeOrNull(judged.nextProbeMs),
    ...{ attempts, success: rounded(success), successOfHour: rounded(successOfHour) },
    lastHour: { delivered: [...lastHour.delivered], failed: [...lastHour.failed] },
    timeouts: rounded(timeouts),
    p50Ms: p50Ms === null ? null : tenths(p50Ms),
    p99Ms: p99Ms === null ? null : tenths(p99Ms),
    inFlight: urls.reduce((sum, { inFlight }) => sum + inFlight, 0),
    urls: urls.map(({ url, breaker, openSinceMs, nextProbeMs, notBeforeMs, inFlight, answer: last }) => ({
      ...{ url, breaker, inFlight },
      openSince: isoTimeOrNull(openSinceMs),
      nextProbe: isoTimeOrNull(nextProbeMs),
      notBefore: isoTimeOrNull(notBeforeMs),
      answer: last === null ? null : viewAnswer(last),
      failures: failures
        .filter((each) => each.url === url)
        .slice(0, MOST_FAILURES)
        .map(({ answer: reported, count }) => ({ answer: reported, count })),
    })),
    processes: held.length,
  };
}

function viewGivesUp({ firstDeadlineMs, lastDeadlineMs }: LoggedHealth): HealthAnswer["givesUp"] {
  if (firstDeadlineMs === null || lastDeadlineMs === null) return null;
  return { first: isoTime(firstDeadlineMs), last: isoTime(lastDeadlineMs) };
}

export function viewWaiting(
  waiting: readonly WaitingDeliveries[],
  inProcesses: number,
): z.output<typeof waitingAnswer> {
  const byDelay = new Map<number, number>();
  let deferred = 0;
  for (const { delayMs, count } of waiting) {
    if (delayMs === null) deferred += count;
    else byDelay.set(delayMs, (byDelay.get(delayMs) ?? 0) + count);
  }
  const topics = [...byDelay].map(([delayMs, count]) => ({ delayMs, count })).sort((a, b) => a.delayMs - b.delayMs);
  const total = topics.reduce((sum, { count }) => sum + count, deferred + inProcesses);
  return { total, inProcess: inProcesses, deferred, topics };
}

export function inProcess(held: KnownDestination["held"]): number {
  return held.reduce((sum, { waiting }) => sum + waiting, 0);
}

function viewAnswer({ atMs, outcome, status, error, durationMs }: LastAnswer): z.output<typeof answer> {
  return { time: isoTime(atMs), outcome, status, error, durationMs: tenths(durationMs) };
}

/** Rounds a share to a tenth of a percent. */
function rounded(share: number | null): number | null {
  return share === null ? null : Math.round(share * 1000) / 1000;
}
