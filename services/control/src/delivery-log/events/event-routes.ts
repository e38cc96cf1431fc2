/** Routes for "Why did this event not arrive?": the verdict on the events under one message id. */
import type { SuppressedUsers } from "@posthaste/core/deletion/suppression";
import { suppressedKeyCheck } from "@posthaste/deletions/suppressed-key";
import { freshAnswer } from "@posthaste/http-kit/freshness";
import { isoTime } from "@posthaste/http-kit/moment";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import type { PipelineAnswer } from "@posthaste/pipeline/pipeline-search";
import { activityFromEntry } from "@posthaste/read-model/activity-entry";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { z } from "zod";
import type { ResendAuthors } from "../../configuration/audit/resend-authors.ts";
import type { LostOf } from "../../operations/losses/lost-delivery.ts";
import { configuredNames } from "./configured-names.ts";
import { type LookupParts, lookUpEvent } from "./event-lookup.ts";
import { causeOfAll } from "./event-verdict.ts";
import { eventAnswer, eventView } from "./event-view.ts";
import type { LiveDeliveryState } from "./live-delivery-state.ts";
import { type LogSettings, unloggedEnds } from "./logged-share.ts";
import { hiddenBy } from "./name-deletions.ts";
import { tellNothing } from "./nothing-known.ts";
import { pathlessId } from "./pathless-id.ts";
import { resendsOf } from "./resent-by.ts";
import { viewDeletion } from "./stopped-view.ts";

/**
 * The most counts that are added up, the newest ones. Each covers ten seconds or a minute: together an hour of a busy
 * source at one process.
 */
const MAX_COUNTS = 500;

export interface EventRoutesParts extends LookupParts {
  readonly lostOf: LostOf;
  readonly suppressed: SuppressedUsers;
  readonly beside: LiveDeliveryState;
  readonly authors: Pick<ResendAuthors, "of">;
  readonly nowMs: () => number;
  /** How long the delivery log holds attempts, in ms. */
  readonly keepMs: number;
  /** The log settings of the delivery processes that run. */
  readonly logSettings: () => readonly LogSettings[];
}

const query = pathlessId.extend({
  cursor: z
    .string()
    .optional()
    .describe("The nextCursor of the answer before: lists further destinations, with their own timelines."),
  sourceId: z.string().optional().describe("Only the events of this source."),
  origin: z
    .string()
    .regex(/^\d{1,10}:\d{1,16}$/, "expected a partition and an offset, such as 1:77")
    .optional()
    .describe("Only the event at this place of posthaste.events, `partition:offset`: a repeat has one of its own."),
  userId: z
    .string()
    .optional()
    .describe("Whose event it is, where that is known: what waits is then looked for in that user's partitions alone."),
});

export function eventRoutes(parts: EventRoutesParts): readonly Route[] {
  const names = configuredNames(parts);
  const isSuppressed = suppressedKeyCheck(parts.suppressed);
  return [
    defineRoute({
      method: "GET",
      path: "/v1/events/{messageId}",
      operation: "getEvent",
      summary: "What became of the events under a message id, and why",
      query,
      answer: {
        status: 200,
        description: "The verdict; where nothing is known of the message id, that.",
        body: { name: "EventVerdict", schema: eventAnswer },
      },
      handle: async ({ params, query: { messageId = params.messageId, ...asked }, signal }) => {
        const terms = { nowMs: parts.nowMs(), isSuppressed, lostOf: parts.lostOf };
        const { judged, facts, search, next } = await lookUpEvent({ messageId, ...asked }, parts, {
          ...terms,
          signal,
        });
        const resentBy = await parts.authors.of(resendsOf(judged));
        const shown = { ...terms, messageId, names, beside: parts.beside, resentBy };
        const events = judged.map((each) => eventView(each, shown));
        const cause = causeOfAll(judged, facts);
        const leading = events.find((each) => each.cause === cause);
        const hidden = leading === undefined ? await hiddenBy(facts, parts.naming) : undefined;
        const nothing = {
          hiddenBy: hidden,
          keepMs: parts.keepMs,
          unlogged: unloggedEnds(parts.logSettings()),
          isComplete: facts.fresh.complete,
        };
        const { sentence: reported, command } =
          leading ?? tellNothing(cause, { messageId, origin: asked.origin, search, ...nothing });
        const { sourceId } = asked;
        const isOfSource = leading === undefined && sourceId !== undefined;
        const sentence = `${reported}${isOfSource ? await refusalsInWords(parts.readModel, sourceId) : ""}`;
        return {
          messageId,
          cause,
          sentence,
          command,
          deletion: leading?.deletion ?? viewDeletion(hidden),
          events,
          search: searchView(search),
          cut: facts.isCut,
          nextCursor: next,
          ...freshAnswer(facts.fresh),
        };
      },
    }),
  ];
}

function searchView(search: PipelineAnswer | null): z.input<typeof eventAnswer>["search"] {
  if (search === null) return null;
  const { state, records, stopped } = search;
  return { state, records, stopped: [...stopped] };
}

/**
 * A sentence of a source's requests that ingest refused as a whole; empty where ingest refused none. Rejects with a
 * Problem while the read model cannot be asked.
 */
async function refusalsInWords(readModel: Pick<ReadModel, "newest">, sourceId: string): Promise<string> {
  const entries = await readModel.newest("source_activity", { destinationId: sourceId, limit: MAX_COUNTS });
  const counts = entries.map(activityFromEntry);
  const byCode = new Map<string, number>();
  for (const { refused } of counts) {
    for (const [code, count] of Object.entries(refused)) byCode.set(code, (byCode.get(code) ?? 0) + count);
  }
  if (byCode.size === 0) return "";
  const sinceMs = Math.min(...counts.map((each) => each.sinceMs));
  const codes = [...byCode].sort(([, a], [, b]) => b - a).map(([code, count]) => `${code} ${count} times`);
  return ` Since ${isoTime(sinceMs)} ingest refused requests of the source as a whole: ${codes.join(", ")}.`;
}
