/** Dead letters: what will not be tried again, and why. */
import { DEAD_LETTER_REASONS } from "@posthaste/core/delivery/dead-letter";
import { EVENT_TYPES, OTHER } from "@posthaste/core/event/event";
import { z } from "zod";
import { tenths } from "../http/milliseconds.ts";
import { timeRange } from "../http/moment.ts";
import { pageOf, pageQuery } from "../http/page.ts";
import { defineRoute, type Route } from "../http/route.ts";
import { deadLetterFromEntry } from "../read-model/dead-letter-entry.ts";
import type { JournalEntry } from "../read-model/journal.ts";
import { decodeCursor, encodeCursor } from "../read-model/journal-cursor.ts";
import { decodeCountCursor, encodeCountCursor } from "./count-cursor.ts";
import { isComplete, journalPageOf } from "./journal-page.ts";
import type { VisibleLetters } from "./visible-letters.ts";

const REASONS = [...DEAD_LETTER_REASONS, OTHER] as const;
const reason = z.enum(REASONS, `expected one of ${REASONS.join(", ")}`);
const time = z.iso.datetime();

/** Which dead letters. */
const deadLetterFilter = { destinationId: z.string().optional(), reason: reason.optional(), ...timeRange };
const deadLetterQuery = pageQuery.extend(deadLetterFilter);

const deadLetter = z.object({
  time: time.describe("When it became a dead letter."),
  reason,
  destinationId: z.string(),
  sourceId: z.string(),
  messageId: z.string(),
  type: z.enum([...EVENT_TYPES, OTHER]),
  receivedAt: time.describe("When ingest took the call."),
  attempts: z.int().describe("Attempts made."),
  deferrals: z.int().describe("Times it was deferred without a request."),
  windowStart: time.nullable().describe("The first failed attempt or the first putting-off; null without either."),
  lastAttempt: z
    .array(
      z.object({
        url: z.string(),
        status: z.int().nullable(),
        error: z
          .string()
          .nullable()
          .describe("Null when a status arrived; `not_attempted` or `url_removed` where nothing was sent."),
        durationMs: z.number(),
      }),
    )
    .describe(
      "What each URL answered in the attempt that ended it; empty when there was none. Where each URL is retried on its own: the URLs that are dead.",
    ),
});

const deadLetterCount = z.object({
  destinationId: z.string(),
  reason,
  count: z.int(),
});

const leftOut = z
  .object({ suppressed: z.int().describe("Dead letters of users whose events a deletion request stopped.") })
  .describe("How many fitted and are not shown.");

export function deadLetterRoutes(letters: VisibleLetters): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/dead-letters",
      operation: "listDeadLetters",
      summary: "Dead letters, newest first",
      query: deadLetterQuery,
      answer: {
        status: 200,
        description: "One page of dead letters.",
        body: { name: "DeadLetterPage", schema: journalPageOf(deadLetter).extend({ leftOut }) },
      },
      handle: async ({ query: { reason: kind, since, until, cursor, ...named } }) => {
        const after = cursor === undefined ? undefined : decodeCursor(cursor);
        const complete = letters.isComplete;
        const page = await letters.page({ ...named, kind, sinceMs: since, untilMs: until, after });
        return {
          data: page.entries.map(view),
          nextCursor: page.next === null ? null : encodeCursor(page.next),
          complete,
          leftOut: { suppressed: page.leftOut },
        };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/dead-letters/counts",
      operation: "countDeadLetters",
      summary: "How many dead letters there are of each destination and reason",
      query: deadLetterQuery,
      answer: {
        status: 200,
        description: "One page of counts, in order of destination and reason.",
        body: {
          name: "DeadLetterCountPage",
          schema: pageOf(deadLetterCount).extend({ complete: isComplete, leftOut }),
        },
      },
      handle: async ({ query: { reason: kind, since, until, destinationId, limit, cursor } }) => {
        const after = cursor === undefined ? undefined : decodeCountCursor(cursor);
        const complete = letters.isComplete;
        const filter = { destinationId, kind, sinceMs: since, untilMs: until };
        const { counts, leftOut: hidden, next } = await letters.counts({ ...filter, limit, after });
        return {
          data: counts
            .filter(({ count }) => count > 0)
            .map(({ count, ...of }) => ({ destinationId: of.destinationId, reason: reason.parse(of.kind), count })),
          nextCursor: next === null ? null : encodeCountCursor(next),
          complete,
          leftOut: { suppressed: hidden },
        };
      },
    }),
  ];
}

function view(entry: JournalEntry): z.output<typeof deadLetter> {
  const { deadAtMs, receivedAtMs, windowStartMs, lastAttempt, ...letter } = deadLetterFromEntry(entry);
  return {
    ...letter,
    time: new Date(deadAtMs).toISOString(),
    receivedAt: new Date(receivedAtMs).toISOString(),
    windowStart: windowStartMs === null ? null : new Date(windowStartMs).toISOString(),
    lastAttempt: lastAttempt.map((url) => ({ ...url, durationMs: tenths(url.durationMs) })),
  };
}
