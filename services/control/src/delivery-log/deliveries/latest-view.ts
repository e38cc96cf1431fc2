/** A delivery and its state as the API shows them. */
import type { LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import { ATTEMPT_OUTCOMES } from "@posthaste/core/delivery/outcome";
import { EVENT_TYPES, OTHER } from "@posthaste/core/event/event";
import { DELIVERY_STATES, stateOf } from "@posthaste/core/verdict/delivery-state";
import { isoTime, isoTimeOrNull, tenths } from "@posthaste/http-kit/moment";
import type { KnownDelivery } from "@posthaste/read-model/delivery-entry";
import { allAnswers } from "@posthaste/read-model/past-answers";
import { z } from "zod";
import type { ResentBy } from "../../configuration/audit/resend-authors.ts";
import { type FilteredDelivery, failureOf } from "./attempt-filter.ts";

const time = z.iso.datetime();

export const latestDelivery = z.object({
  time: time.describe("Of the newest that is known of it; the list's order."),
  messageId: z.string(),
  destinationId: z.string(),
  sourceId: z.string(),
  type: z.enum([...EVENT_TYPES, OTHER]),
  event: z.string().nullable().describe("track: the event's name; page, screen: the name."),
  userKey: z.string().nullable().describe("The user id, else the anonymous id, else the message id."),
  receivedAt: time.nullable().describe("When ingest took the call."),
  origin: z
    .object({ partition: z.int(), offset: z.int() })
    .nullable()
    .describe("The event in posthaste.events; null where that is not known."),
  replayId: z.string().nullable().describe("The replay or the resend that sent it; null for the first sending."),
  sentBy: z
    .string()
    .nullable()
    .describe("Who sent it by hand: the name of their token. Null where nobody did, or the audit does not know who."),
  sentAgain: z
    .string()
    .nullable()
    .describe("The newest replay or resend of what did not arrive; it has an entry of its own. Null for none."),
  state: z.enum(DELIVERY_STATES),
  attempts: z.int().describe("Made so far."),
  answers: z
    .array(
      z.object({
        attempt: z.int().describe("1 for the first."),
        time: time.nullable().describe("When it started; null where the dead letter alone says what it came to."),
        urls: z.array(z.string()).describe("Of each URL its status, or the code of what failed, such as timeout."),
      }),
    )
    .describe("What the attempts were answered, the newest eight at the most, oldest first."),
  earlier: z.int().describe("Attempts before those of `answers`."),
  due: time.nullable().describe("waiting_retry, deferred: when it is looked at again; null where that is not known."),
  deadline: time.nullable().describe("waiting_retry, deferred: the end of its retry window."),
  error: z
    .string()
    .nullable()
    .describe("What failed last: a code such as timeout, or a status. Null where nothing did."),
  lastAttempt: z
    .object({
      time: time.nullable().describe("When it started; null where the dead letter alone says what it came to."),
      outcome: z.enum([...ATTEMPT_OUTCOMES, OTHER]).nullable(),
      urls: z.array(
        z.object({
          url: z.string(),
          status: z.int().nullable(),
          error: z.string().nullable(),
          durationMs: z.number().nullable(),
        }),
      ),
    })
    .nullable()
    .describe("The newest attempt; null for none."),
  deferral: z
    .object({ cause: z.string(), since: time })
    .nullable()
    .describe("deferred: why, and since when; else null."),
  deadLetter: z
    .object({
      time,
      reason: z.string(),
      reasonClass: z.string().nullable(),
      place: z.string().nullable().describe("As GET /v1/dead-letters/{place} takes it; null while it is not read."),
    })
    .nullable()
    .describe("dead_letter: why; else null."),
});
type LatestDelivery = z.output<typeof latestDelivery>;

export interface LatestTerms {
  readonly nowMs: number;
  readonly isSuppressed: (sourceId: string, userKey: string | null) => boolean;
  readonly sentBy: ResentBy;
  readonly sentAgain: string | null;
}

/** The row of a delivery; for a suppressed user, without the user's key and the event's name. */
export function viewLatest(
  delivery: KnownDelivery,
  { nowMs, isSuppressed, sentBy, sentAgain }: LatestTerms,
): LatestDelivery {
  const { messageId, destinationId, sourceId, origin, replayId, facts, state, timeMs } = delivery;
  const { type, event, userKey, receivedAtMs } = saidOf(delivery);
  const isHidden = state === "suppressed" || isSuppressed(sourceId, userKey);
  const { verdict } = stateOf(facts, nowMs);
  const waits = verdict?.cause === "waiting_retry" || verdict?.cause === "deferred" ? verdict : null;
  const attempts = attemptsOf(delivery);
  const answers = answersOf(delivery);
  return {
    ...{ time: isoTime(timeMs), messageId, destinationId, sourceId, type, origin, replayId, sentAgain, state },
    sentBy: replayId === null ? null : (sentBy.get(replayId) ?? null),
    ...(isHidden ? { event: null, userKey: null } : { event, userKey }),
    receivedAt: isoTimeOrNull(receivedAtMs),
    ...{ attempts, answers, earlier: Math.max(0, attempts - answers.length) },
    due: isoTimeOrNull(waits?.dueAtMs ?? null),
    deadline: isoTimeOrNull(waits?.deadlineMs ?? null),
    error: errorOf(delivery),
    lastAttempt: lastAttemptOf(delivery),
    deferral: verdict?.cause === "deferred" ? { cause: verdict.deferredCause, since: isoTime(verdict.sinceMs) } : null,
    deadLetter:
      verdict?.cause === "dead_letter"
        ? {
            time: isoTime(verdict.atMs),
            reason: verdict.reason,
            reasonClass: verdict.reasonClass,
            place: verdict.place,
          }
        : null,
  };
}

/** The fields that the filters look at. */
export function filteredOf(delivery: KnownDelivery): FilteredDelivery {
  const { sourceId, replayId } = delivery;
  const { type, event, userKey } = saidOf(delivery);
  const urls = lastAttemptOf(delivery)?.urls ?? [];
  return { type, event, userKey, sourceId, replayId, attempt: attemptsOf(delivery), urls };
}

/** The event's fields, from the newest attempt, else the newest deferral, else the newest dead letter. */
function saidOf({ facts }: KnownDelivery): Pick<LoggedDelivery, "type" | "event" | "userKey" | "receivedAtMs"> {
  const said = facts.attempts.at(-1) ?? facts.deferrals.at(-1) ?? facts.deadLetters.at(-1);
  return said ?? { type: OTHER, event: null, userKey: null, receivedAtMs: null };
}

function attemptsOf({ facts: { attempts, deferrals, deadLetters } }: KnownDelivery): number {
  return Math.max(
    0,
    ...attempts.map(({ attempt }) => attempt),
    ...[...deferrals, ...deadLetters].map(({ attempts: before }) => before),
  );
}

function lastAttemptOf({ facts: { attempts, deadLetters } }: KnownDelivery): LatestDelivery["lastAttempt"] {
  const newest = attempts.at(-1);
  if (newest !== undefined) {
    const urls = newest.urls.map(({ url, status, error, durationMs }) => {
      return { url, status, error, durationMs: tenths(durationMs) };
    });
    return { time: isoTime(newest.startedAtMs), outcome: newest.outcome, urls };
  }
  const last = deadLetters.at(-1)?.lastAttempt ?? [];
  if (last.length === 0) return null;
  return { time: null, outcome: null, urls: last.map((each) => ({ ...each, durationMs: null })) };
}

/** The answers to a delivery's attempts. Where no attempt is logged, the last answer comes from the dead letter. */
function answersOf(delivery: KnownDelivery): LatestDelivery["answers"] {
  const answers = allAnswers(delivery.pastAnswers, delivery.facts.attempts);
  if (answers.length > 0) {
    return answers.map(([startedAtMs, attempt, urls]) => ({
      ...{ attempt, time: isoTime(startedAtMs), urls: urls.map(String) },
    }));
  }
  const last = lastAttemptOf(delivery)?.urls ?? [];
  const urls = last.map(({ status, error }) => String(status ?? error ?? "no_answer"));
  return urls.length === 0 ? [] : [{ attempt: attemptsOf(delivery), time: null, urls }];
}

function errorOf(delivery: KnownDelivery): string | null {
  for (const url of lastAttemptOf(delivery)?.urls ?? []) {
    const failure = failureOf(url);
    if (failure !== null) return failure;
  }
  return null;
}
