/** Routes: events by their user and their name, as a short list with each event's verdict in a sentence. */

import type { SuppressedUsers } from "@posthaste/core/deletion/suppression";
import { EVENT_TYPES, OTHER } from "@posthaste/core/event/event";
import { mergedFreshness } from "@posthaste/core/freshness";
import { VERDICT_CAUSES } from "@posthaste/core/verdict/verdict";
import { suppressedKeyCheck } from "@posthaste/deletions/suppressed-key";
import { freshAnswer } from "@posthaste/http-kit/freshness";
import { isoTime, isoTimeOrNull, timeRange } from "@posthaste/http-kit/moment";
import { pageOf } from "@posthaste/http-kit/page";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import type { LostOf } from "../../operations/losses/lost-delivery.ts";
import { searchedTo } from "../deliveries/delivery-routes.ts";
import { configuredNames } from "./configured-names.ts";
import { judgeWritten, type LookupParts, type WrittenParts } from "./event-lookup.ts";
import { type FoundEvent, SEARCHED_PROJECTIONS, searchEvents } from "./event-search.ts";
import { causeOfAll, type JudgedEvent } from "./event-verdict.ts";
import { eventView } from "./event-view.ts";
import type { LiveDeliveryState } from "./live-delivery-state.ts";
import { nameListedDeletions } from "./name-deletions.ts";
import { stoppingDeletion } from "./stopped-view.ts";

const MOST = 50;
/** For how long, in ms, a page looks for the deletion requests that stopped its events. */
const NAMING_MS = 1000;
const EXPECTED = `expected a whole number from 1 to ${MOST}`;

const eventQuery = z.strictObject({
  userId: z.string().optional().describe("Of this user: the user id, else the anonymous id."),
  event: z.string().optional().describe("Of this name: a track's event, a page's or screen's name."),
  sourceId: z.string().optional(),
  ...timeRange,
  limit: z.coerce
    .number(EXPECTED)
    .int(EXPECTED)
    .min(1, EXPECTED)
    .max(MOST, EXPECTED)
    .default(MOST)
    .describe("Events at the most."),
  cursor: z.string().optional().describe("`nextCursor` of the page before."),
});

const listedEvent = z.object({
  messageId: z.string(),
  sourceId: z.string(),
  type: z.enum([...EVENT_TYPES, OTHER]).nullable(),
  event: z.string().nullable().describe("track: the event's name; page, screen: the name."),
  userKey: z.string().nullable().describe("The user id, else the anonymous id, else the message id."),
  receivedAt: z.iso.datetime().nullable().describe("The last time, where it came more than once."),
  cause: z.enum(VERDICT_CAUSES).describe("The worst of all events of the source under this message id."),
  sentence: z.string().describe("What became of it, in one sentence."),
  deletion: stoppingDeletion,
  destinationIds: z.array(z.string()).describe("Those that all verdicts on it speak of, whatever became of it there."),
});

export interface EventListParts extends WrittenParts {
  readonly suppressed: SuppressedUsers;
  readonly beside: LiveDeliveryState;
  readonly lostOf: LostOf;
  readonly nowMs: () => number;
  readonly naming: LookupParts["naming"];
}

/** An event of the page: all that is under its message id, and the one that tells of it. */
interface FoundVerdict extends FoundEvent {
  readonly judged: readonly JudgedEvent[];
  readonly leading: JudgedEvent;
}

export function eventListRoutes(parts: EventListParts): readonly Route[] {
  const { readModel, deadLetters } = parts;
  const names = configuredNames(parts);
  const isSuppressed = suppressedKeyCheck(parts.suppressed);

  async function judgeFound({ messageId, sourceId, receivedAtMs }: FoundEvent): Promise<readonly FoundVerdict[]> {
    const { judged, facts } = await judgeWritten({ messageId, sourceId }, parts, {
      nowMs: parts.nowMs(),
      isSuppressed,
      lostOf: parts.lostOf,
    });
    const cause = causeOfAll(judged, facts);
    const leading = judged.find((each) => each.cause === cause);
    // The projections dropped the event's entries since, or a suppression hides them by now.
    return leading === undefined ? [] : [{ messageId, sourceId, receivedAtMs, judged, leading }];
  }

  function viewFound({
    messageId,
    sourceId,
    receivedAtMs,
    judged,
    leading,
  }: FoundVerdict): z.output<typeof listedEvent> {
    // A row shows no timeline, so nobody needs to be found who sent something by hand.
    const shown = { messageId, names, beside: parts.beside, resentBy: new Map(), nowMs: parts.nowMs(), isSuppressed };
    const { type, event, userKey, cause, sentence, deletion } = eventView(leading, shown);
    const receivedAt = isoTime(receivedAtMs);
    const reported = judged.flatMap((each) => eventView(each, shown).destinations);
    const destinationIds = [...new Set(reported.map((each) => each.destinationId))];
    return { messageId, sourceId, type, event, userKey, receivedAt, cause, sentence, deletion, destinationIds };
  }

  return [
    defineRoute({
      method: "GET",
      path: "/v1/events",
      operation: "listEvents",
      summary: "Events by user, name and source, the last received first, each with what became of it",
      query: eventQuery,
      answer: {
        status: 200,
        description: "One page of events, each once over all pages: where it was received last, if it came again.",
        body: { name: "EventPage", schema: pageOf(listedEvent).extend({ searchedTo }) },
      },
      handle: async ({ query: { since, until, ...asked } }) => {
        const all = SEARCHED_PROJECTIONS.map((projection) => readModel.freshness(projection));
        const fresh = all.reduce(mergedFreshness, deadLetters.freshness);
        const found = await searchEvents(readModel, { ...asked, sinceMs: since, untilMs: until, isSuppressed });
        const judged = (await Promise.all(found.events.map(judgeFound))).flat();
        const leading = judged.map((each) => each.leading);
        const named = await nameListedDeletions(leading, parts.naming, AbortSignal.timeout(NAMING_MS));
        const data = judged.map((each, index) => viewFound({ ...each, leading: named[index] ?? each.leading }));
        const { nextCursor, searchedToMs } = found;
        return { data, nextCursor, ...freshAnswer(fresh), searchedTo: isoTimeOrNull(searchedToMs) };
      },
    }),
  ];
}
