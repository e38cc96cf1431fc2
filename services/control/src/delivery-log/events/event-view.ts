/** Events under one message id as the API shows them: cause, sentence, command, timeline. */

import type { AttemptRecord } from "@posthaste/core/delivery/attempt-record";
import { EVENT_TYPES, OTHER } from "@posthaste/core/event/event";
import { type Behind, VERDICT_CAUSES } from "@posthaste/core/verdict/verdict";
import { freshness } from "@posthaste/http-kit/freshness";
import { isoTime, isoTimeOrNull } from "@posthaste/http-kit/moment";
import type { UnfinishedEvent } from "@posthaste/pipeline/pipeline-findings";
import type { ListedRefusal } from "@posthaste/read-model/activity-entry";
import type { ListedUnrouted } from "@posthaste/read-model/unrouted-entry";
import { z } from "zod";
import type { ResentBy } from "../../configuration/audit/resend-authors.ts";
import { causeOf, type JudgedDelivery, type JudgedEvent } from "./event-verdict.ts";
import type { LiveDeliveryState } from "./live-delivery-state.ts";
import { resendsOf } from "./resent-by.ts";
import type { EventDelivery, RoutedEvent } from "./routed-events.ts";
import { stoppingDeletion, viewDeletion } from "./stopped-view.ts";
import { deliverySteps, receivedSteps, refusedStep, rejectedStep, timelineStep, unroutedStep } from "./timeline.ts";
import {
  type Names,
  type ReportedDelivery,
  tellDelivery,
  tellEndless,
  tellRefused,
  tellRejected,
  tellUnfinished,
  tellUnrouted,
} from "./verdict-sentences.ts";
import type { VerdictText } from "./verdict-text.ts";

const time = z.iso.datetime();
const cause = z.enum(VERDICT_CAUSES);
const sentence = z.string().describe("What became of it, in one sentence.");
const command = z.string().nullable().describe("A line for the terminal that helps; null where nothing is to be done.");

const pipeline = z
  .object({
    before: z.enum(["router", "delivery"]).describe("Who has not come to it, or is at it."),
    records: z.int().describe("Records before it in its partition that are not finished."),
    seconds: z.int().describe("How long the first of them, or it itself, has been there."),
  })
  .nullable()
  .describe("in_pipeline: where it waits; null for any other cause.");

const event = z.object({
  sourceId: z.string(),
  origin: z
    .object({ partition: z.int(), offset: z.int() })
    .nullable()
    .describe("Its place in posthaste.events; null where that is not known, or it never came there."),
  type: z.enum([...EVENT_TYPES, OTHER]).nullable(),
  event: z.string().nullable().describe("track: the event's name; page, screen: the name."),
  userKey: z.string().nullable().describe("The user id, else the anonymous id, else the message id."),
  receivedAt: time.nullable(),
  cause: cause.describe("The worst of its destinations."),
  sentence,
  command,
  pipeline,
  deletion: stoppingDeletion,
  delivered: z
    .object({ destinations: z.int(), lastAt: time })
    .nullable()
    .describe("Destinations that took it and are not listed, where it has over 100; null where none is left out."),
  destinations: z
    .array(
      z.object({
        destinationId: z.string(),
        cause,
        sentence,
        command,
        since: time.nullable().describe("destination_off: since when it was off; deferred: since when it waits so."),
        by: z.string().nullable().describe("destination_off: the token that switched it off, as the audit names it."),
        due: time.nullable().describe("waiting_retry, deferred: when it is looked at again."),
        deadline: time.nullable().describe("waiting_retry, deferred: the end of its retry window."),
        tries: z.int().nullable().describe("Attempts made, of the newest replay where it was sent again."),
        place: z
          .string()
          .nullable()
          .describe("dead_letter: the letter's place, as GET /v1/dead-letters/{place} takes it."),
        pipeline,
      }),
    )
    .describe("All where it has up to 100; else a page of those that did not take it, the worst first."),
  sentByHand: z
    .array(
      z.object({
        replayId: z.string(),
        by: z.string().nullable().describe("The name of the token; null where the audit does not know it."),
      }),
    )
    .describe("Its resends, whose ids its attempts name."),
  timeline: z.array(timelineStep).describe("Of the destinations that are listed, oldest first."),
});

export const eventAnswer = z.object({
  messageId: z.string(),
  cause: cause.describe("The worst of all events under this message id; unknown where there is none."),
  sentence,
  command,
  deletion: stoppingDeletion,
  events: z.array(event).describe("Two sources may share a message id, and a repeat is an event too."),
  cut: z
    .boolean()
    .describe("True where over 500 entries of a kind are logged: timelines then have the newest of them alone."),
  nextCursor: z.string().nullable().describe("Continues the list of destinations; null where it is whole."),
  search: z
    .object({
      state: z
        .enum(["searched", "stopped", "busy", "failed"])
        .describe(
          "searched: to the end; stopped: it took too long; busy: too many others were asked for; " +
            "failed: the brokers did not answer.",
        ),
      records: z.int().describe("Records that were looked at."),
      stopped: z
        .array(z.object({ topic: z.string(), partition: z.int(), next: z.int(), end: z.int() }))
        .describe("Partitions that were not read to their ends, and the first offset that was not looked at."),
    })
    .nullable()
    .describe("Of what the router and delivery have not finished, where no end was known; null where one was."),
  ...freshness,
});

export interface ViewTerms {
  readonly messageId: string;
  readonly names: Names;
  readonly nowMs: number;
  readonly beside: LiveDeliveryState;
  readonly resentBy: ResentBy;
  readonly isSuppressed: (sourceId: string, userKey: string | null) => boolean;
}

/** The view of an event; for a suppressed user, without the user's key and the event's name. */
export function eventView(judged: JudgedEvent, terms: ViewTerms): z.output<typeof event> {
  const reported = viewOf(judged, terms);
  return terms.isSuppressed(reported.sourceId, reported.userKey)
    ? { ...reported, userKey: null, event: null }
    : reported;
}

function viewOf(judged: JudgedEvent, terms: ViewTerms): z.output<typeof event> {
  if ("rejected" in judged) {
    const { sourceId, userKey, event: name, rejectedAtMs } = judged.rejected;
    return {
      ...{ sourceId, userKey, event: name, origin: null, type: null, receivedAt: isoTime(rejectedAtMs) },
      ...{ cause: judged.cause, ...tellRejected(judged.rejected) },
      ...{ delivered: null, destinations: [], sentByHand: [], pipeline: null, deletion: null },
      timeline: [rejectedStep(judged.rejected)],
    };
  }
  if ("refused" in judged) return refusedView(judged.refused, terms);
  if ("unrouted" in judged) return unroutedView(judged, terms);
  return "unfinished" in judged ? unfinishedView(judged, terms) : routedView(judged, terms);
}

/** A request that ingest refused as a whole. */
function refusedView(refused: ListedRefusal, { names }: ViewTerms): z.output<typeof event> {
  const { sourceId, atMs } = refused;
  return {
    ...{ sourceId, userKey: null, event: null, origin: null, type: null, receivedAt: isoTime(atMs), cause: "refused" },
    ...tellRefused(refused, names),
    ...{ delivered: null, destinations: [], sentByHand: [], pipeline: null, deletion: null },
    timeline: [refusedStep(refused)],
  };
}

function unroutedView(
  judged: Extract<JudgedEvent, { readonly unrouted: ListedUnrouted }>,
  terms: ViewTerms,
): z.output<typeof event> {
  const { unrouted, deliveries, cause: ofIt } = judged;
  const { sourceId, userKey, event: name, type, receivedAtMs } = unrouted;
  return {
    ...{ sourceId, userKey, event: name, type, receivedAt: isoTimeOrNull(receivedAtMs), cause: ofIt },
    ...tellUnrouted(judged, terms.names),
    origin: { partition: unrouted.originPartition, offset: unrouted.originOffset },
    ...{ delivered: null, sentByHand: [], pipeline: null, deletion: viewDeletion(judged.stoppedBy) },
    destinations: deliveries.map((delivery) =>
      destinationView(delivery, reportedOf(delivery, { ...terms, stoppedBy: undefined })),
    ),
    timeline: [...receivedSteps(receivedAtMs), unroutedStep(unrouted)],
  };
}

/** An event that the router has not finished. */
function unfinishedView(
  { unfinished, cause: ofIt }: Extract<JudgedEvent, { readonly unfinished: UnfinishedEvent }>,
  { names }: ViewTerms,
): z.output<typeof event> {
  const { sourceId, userKey, event: name, type, receivedAtMs, partition, offset } = unfinished;
  return {
    ...{ sourceId, userKey, event: name, type, receivedAt: isoTime(receivedAtMs), cause: ofIt },
    ...tellUnfinished(unfinished, names),
    origin: { partition, offset },
    pipeline: pipelineOf("router", unfinished),
    ...{ deletion: null, delivered: null, destinations: [], sentByHand: [] },
    timeline: [...receivedSteps(receivedAtMs)],
  };
}

function pipelineOf(before: "router" | "delivery", { recordsBehind, behindMs }: Behind) {
  return { before, records: recordsBehind, seconds: Math.round(behindMs / 1000) };
}

function routedView(
  judged: Extract<JudgedEvent, { readonly routed: RoutedEvent }>,
  terms: ViewTerms,
): z.output<typeof event> {
  const { routed, deliveries, cause: worst, stoppedBy } = judged;
  const { said, deadLetters, purged, sourceId, origin } = routed;
  const any = said ?? deadLetters[0] ?? purged[0];
  const receivedAtMs = any?.receivedAtMs ?? null;
  const reported = deliveries.map((delivery) => {
    const facts = routed.deliveries.get(delivery.destinationId);
    return { delivery, reported: reportedOf(delivery, { ...terms, stoppedBy }, newestAttempt(facts)) };
  });
  const delivered = deliveredOf(routed);
  const leading = withDelivered(reported[0]?.reported ?? null, delivered, routed);
  return {
    ...{ sourceId, origin, type: any?.type ?? null, event: any?.event ?? null, userKey: any?.userKey ?? null },
    ...{ receivedAt: isoTimeOrNull(receivedAtMs), cause: worst, ...leading },
    ...{ pipeline: null, deletion: viewDeletion(stoppedBy) },
    delivered,
    destinations: reported.map(({ delivery, reported: ofIt }) => destinationView(delivery, ofIt)),
    sentByHand: [...resendsOf([judged])].map((replayId) => ({ replayId, by: terms.resentBy.get(replayId) ?? null })),
    timeline: [...receivedSteps(receivedAtMs), ...deliverySteps(routed, terms.resentBy)],
  };
}

/** Of the deliveries that are not listed, those that were taken. */
function deliveredOf({ unlisted }: RoutedEvent): z.output<typeof event>["delivered"] {
  const times = [...unlisted.values()].flatMap(({ state, atMs }) => (state === "delivered" ? [atMs] : []));
  if (times.length === 0) return null;
  return { destinations: times.length, lastAt: isoTime(times.reduce((last, each) => Math.max(last, each), 0)) };
}

function withDelivered(
  worst: VerdictText | null,
  delivered: z.output<typeof event>["delivered"],
  { deliveries, unlisted }: RoutedEvent,
): VerdictText {
  if (delivered === null) return worst ?? UNKNOWN;
  const all = new Set([...deliveries.keys(), ...unlisted.keys()]).size;
  const taken = `Delivered to ${delivered.destinations} of ${all} destinations, last at ${delivered.lastAt}.`;
  return worst === null ? { sentence: taken, command: null } : { ...worst, sentence: `${worst.sentence} ${taken}` };
}

const UNKNOWN: VerdictText = { sentence: "Nothing is known of it.", command: null };

function newestAttempt(facts: Pick<EventDelivery, "attempts"> | undefined): AttemptRecord | null {
  return facts?.attempts.toSorted((a, b) => b.startedAtMs - a.startedAtMs)[0] ?? null;
}

/** `newest`: the newest logged attempt, where there is one. */
function reportedOf(
  { destinationId, verdict }: JudgedDelivery,
  { messageId, names, nowMs, beside, stoppedBy }: ViewTerms & Pick<ReportedDelivery, "stoppedBy">,
  newest: AttemptRecord | null = null,
): VerdictText {
  if (verdict !== null) return tellDelivery(verdict, { messageId, destinationId, nowMs, beside, stoppedBy }, names);
  const name = names.destination(destinationId);
  if (newest !== null) return tellEndless(newest, name);
  return {
    sentence: `Nothing is logged of ${name}: it may be under way, or delivered where delivery logs failures alone.`,
    command: `posthaste deliveries --destination-id ${destinationId}`,
  };
}

function destinationView({ destinationId, verdict }: JudgedDelivery, reported: VerdictText) {
  const waits = verdict?.cause === "waiting_retry" || verdict?.cause === "deferred" ? verdict : null;
  const off = verdict?.cause === "destination_off" ? verdict : null;
  return {
    ...{ destinationId, cause: causeOf({ destinationId, verdict }), ...reported },
    since: isoTimeOrNull(off?.sinceMs ?? (verdict?.cause === "deferred" ? verdict.sinceMs : null)),
    by: off?.by ?? null,
    due: isoTimeOrNull(waits?.dueAtMs ?? null),
    deadline: isoTimeOrNull(waits?.deadlineMs ?? null),
    tries: verdict?.tries ?? null,
    place: verdict?.cause === "dead_letter" ? verdict.place : null,
    pipeline: verdict?.cause === "in_pipeline" ? pipelineOf("delivery", verdict) : null,
  };
}
