/** Routes: events by their user and their name, as a short list with each event's verdict in a sentence. */
import type { SuppressedUsers } from "@posthaste/core/deletion/suppression";
import { EVENT_TYPES, OTHER } from "@posthaste/core/event/event";
import { VERDICT_CAUSES } from "@posthaste/core/verdict/verdict";
import { z } from "zod";
import { searchedTo } from "../deliveries/delivery-routes.ts";
import { freshnessOfBoth } from "../http/freshness.ts";
import { isoTimeOrNull, timeRange } from "../http/moment.ts";
import { pageOf } from "../http/page.ts";
import { defineRoute, type Route } from "../http/route.ts";
import { suppressedKeyCheck } from "../suppressions/suppressed-key.ts";
import type { BesideLogs } from "./beside-logs.ts";
import { configuredNames } from "./configured-names.ts";
import { judgeWritten, type WrittenParts } from "./event-lookup.ts";
import { type FoundEvent, SEARCHED_JOURNALS, searchEvents } from "./event-search.ts";
import { causeOfAll } from "./event-verdict.ts";
import { eventView } from "./event-view.ts";

const MOST = 50;
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
  receivedAt: z.iso.datetime().nullable(),
  cause: z.enum(VERDICT_CAUSES).describe("The worst of all events of the source under this message id."),
  sentence: z.string().describe("What became of it, in one sentence."),
  destinationIds: z.array(z.string()).describe("Those that all verdicts on it speak of, whatever became of it there."),
});

export interface EventListParts extends WrittenParts {
  readonly suppressed: SuppressedUsers;
  readonly beside: BesideLogs;
  readonly nowMs: () => number;
}

export function eventListRoutes(parts: EventListParts): readonly Route[] {
  const { readModel, letters } = parts;
  const names = configuredNames(parts);
  const isSuppressed = suppressedKeyCheck(parts.suppressed);

  async function viewFound({ messageId, sourceId }: FoundEvent): Promise<readonly z.output<typeof listedEvent>[]> {
    const terms = { nowMs: parts.nowMs(), isSuppressed };
    const { judged, facts } = await judgeWritten({ messageId, sourceId }, parts, terms);
    const cause = causeOfAll(judged, facts);
    const leading = judged.find((each) => each.cause === cause);
    // The journals dropped the event's entries since, or a suppression hides them by now.
    if (leading === undefined) return [];
    // A row shows no timeline, so nobody needs to be found who sent something by hand.
    const shown = { ...terms, messageId, names, beside: parts.beside, resentBy: new Map() };
    const view = (each: typeof leading) => eventView(each, shown);
    const { type, event, userKey, receivedAt, sentence } = view(leading);
    const told = judged.flatMap((each) => view(each).destinations);
    const destinationIds = [...new Set(told.map((each) => each.destinationId))];
    return [{ messageId, sourceId, type, event, userKey, receivedAt, cause, sentence, destinationIds }];
  }

  return [
    defineRoute({
      method: "GET",
      path: "/v1/events",
      operation: "listEvents",
      summary: "Events by user, name and source, newest first, each with what became of it",
      query: eventQuery,
      answer: {
        status: 200,
        description: "One page of events of which something is written down.",
        body: { name: "EventPage", schema: pageOf(listedEvent).extend({ searchedTo }) },
      },
      handle: async ({ query: { since, until, ...asked } }) => {
        const all = SEARCHED_JOURNALS.map((journal) => readModel.freshness(journal));
        const fresh = all.reduce(freshnessOfBoth, letters.freshness);
        const found = await searchEvents(readModel, { ...asked, sinceMs: since, untilMs: until, isSuppressed });
        const data = await Promise.all(found.events.map(viewFound));
        const { nextCursor, searchedToMs } = found;
        return { data: data.flat(), nextCursor, ...fresh, searchedTo: isoTimeOrNull(searchedToMs) };
      },
    }),
  ];
}
