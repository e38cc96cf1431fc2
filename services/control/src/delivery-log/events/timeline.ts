/** The timeline of an event: its steps in words for its sender, with names and numbers apart for a closer look. */
import type { AttemptRecord, DeferralRecord, LoggedDelivery } from "@posthaste/core/delivery/attempt-record";
import type { DeadLetterReason } from "@posthaste/core/delivery/dead-letter";
import type { DeferredCause } from "@posthaste/core/delivery/deferred-cause";
import type { Other } from "@posthaste/core/event/event";
import type { UnroutedCause } from "@posthaste/core/routing/routing";
import { isoTime } from "@posthaste/http-kit/moment";
import type { ListedRefusal } from "@posthaste/read-model/activity-entry";
import type { ListedRejectedCall } from "@posthaste/read-model/rejected-call-entry";
import type { ListedUnrouted } from "@posthaste/read-model/unrouted-entry";
import { z } from "zod";
import { isResend, type ResentBy } from "../../configuration/audit/resend-authors.ts";
import type { RoutedEvent } from "./routed-events.ts";
import { statusAndCode } from "./verdict-sentences.ts";

export const timelineStep = z.object({
  time: z.iso.datetime(),
  what: z.enum(["received", "routed", "rejected", "unrouted", "attempt", "deferred", "dead_letter"]),
  destinationId: z.string().nullable().describe("Null for what is of the event as a whole."),
  detail: z.string().describe("In a few words."),
  note: z.string().nullable().describe("Codes, offsets and ids, for who looks closer; null for none."),
});
type Step = z.output<typeof timelineStep>;
type OfDelivery = Omit<Step, "destinationId">;

const GIVEN_UP: Readonly<Record<DeadLetterReason | Other, string>> = {
  window_expired: "no URL took it until the end of its retry window",
  rejected_by_receiver: "the receiver refused it",
  address_refused: "its URL leads into a network that webhooks may not reach",
  destination_disabled: "the destination was switched off",
  destination_removed: "the destination was removed",
  suppressed: "a deletion request stopped the user's events",
  other: "for a reason that this release does not know",
};

const WAITS: Readonly<Record<DeferredCause | Other, string>> = {
  breaker_open: "its URLs fail, and get no request for now",
  concurrency_limit: "its receiver has as many requests as it manages at a time",
  window_full: "too many of the destination's deliveries are under way",
  retry_after: "its receiver asked not to be called for a while",
  unknown_key: "delivery lacks the key of the destination's secrets",
  other: "for a cause that this release does not know",
};

const LEFT: Readonly<Record<UnroutedCause | Other, string>> = {
  no_destination: "no destination was connected to the source",
  destination_off: "every destination of the source was off",
  integrations: "the call's own integrations switched the destinations off",
  duplicate: "the source had sent this message id before",
  suppressed: "a deletion request stopped the user's events",
  other: "for a cause that this release does not know",
};

export function receivedSteps(receivedAtMs: number | null): readonly Step[] {
  if (receivedAtMs === null) return [];
  return [ofEvent(receivedAtMs, { what: "received", detail: "the call was accepted", note: null })];
}

export function rejectedStep(rejected: ListedRejectedCall): Step {
  const { rejectedAtMs, message } = rejected;
  return ofEvent(rejectedAtMs, { what: "rejected", detail: message, note: statusAndCode(rejected) });
}

export function refusedStep({ atMs, status, code }: ListedRefusal): Step {
  return ofEvent(atMs, { what: "rejected", detail: `the whole request was answered ${status}`, note: code });
}

export function unroutedStep({ unroutedAtMs, cause, configOffset }: ListedUnrouted): Step {
  const note = configOffset === null ? null : configWords(configOffset);
  return ofEvent(unroutedAtMs, { what: "unrouted", detail: LEFT[cause], note });
}

function ofEvent(atMs: number, { what, detail, note }: Pick<Step, "what" | "detail" | "note">): Step {
  return { time: isoTime(atMs), what, destinationId: null, detail, note };
}

/** The steps of all deliveries of an event, oldest first. */
export function deliverySteps({ deliveries }: RoutedEvent, resentBy: ResentBy): readonly Step[] {
  const steps = [...deliveries].flatMap(([destinationId, { attempts, deferrals, deadLetters, unfinished }]): Step[] => [
    ...attempts.map((attempt) => ({ ...attemptStep(attempt), destinationId })),
    ...routedSteps([...attempts, ...deferrals, ...unfinished], resentBy),
    ...deferrals.map((deferral) => ({ ...deferralStep(deferral), destinationId })),
    ...deadLetters.map(({ deadAtMs, reason }) => ({
      ...{ time: isoTime(deadAtMs), what: "dead_letter" as const, destinationId },
      ...{ detail: wordsOf(GIVEN_UP, reason), note: reason },
    })),
  ]);
  return steps.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

/**
 * The timeline's steps for routing: the router writes a record of posthaste.deliveries when it routes the event, and
 * attempts and deferrals may name that record.
 */
function routedSteps(said: readonly LoggedDelivery[], resentBy: ResentBy): readonly Step[] {
  const steps = new Map<number, Step>();
  for (const { destinationId, recordDelayMs, recordTimestampMs, configOffset, replayId } of said) {
    if (recordDelayMs !== 0 || recordTimestampMs === null) continue;
    const note = replayId ?? (configOffset === null ? null : configWords(configOffset));
    const detail = replayId === null ? "to be sent" : againWords(replayId, resentBy);
    steps.set(recordTimestampMs, { time: isoTime(recordTimestampMs), what: "routed", destinationId, detail, note });
  }
  return [...steps.values()];
}

function againWords(replayId: string, resentBy: ResentBy): string {
  if (!isResend(replayId)) return "to be sent again, by a replay";
  return `to be sent again, by hand, by ${resentBy.get(replayId) ?? "whom the audit does not know"}`;
}

function configWords(configOffset: number): string {
  return `by the configuration up to ${configOffset}`;
}

function attemptStep({ startedAtMs, attempt, outcome, urls, followUps }: AttemptRecord): OfDelivery {
  const answers = urls.map(({ url, status, error }) => `${status ?? `no answer (${error})`} from ${url}`).join("; ");
  const isTriedAgain = followUps.some(({ kind }) => kind === "retry");
  const end = outcome === "delivered" ? "" : isTriedAgain ? ", to be tried again" : ", not tried again";
  return { time: isoTime(startedAtMs), what: "attempt", detail: `try ${attempt}: ${answers}${end}`, note: outcome };
}

function deferralStep({ deferredAtMs, cause, dueAtMs }: DeferralRecord): OfDelivery {
  const detail = `${wordsOf(WAITS, cause)}; looked at again ${isoTime(dueAtMs)}`;
  return { time: isoTime(deferredAtMs), what: "deferred", detail, note: cause };
}

function wordsOf(words: Readonly<Record<string, string>>, word: string): string {
  return words[word] ?? words["other"] ?? word;
}
