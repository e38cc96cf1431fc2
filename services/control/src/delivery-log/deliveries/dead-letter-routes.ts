/** Routes for dead letters: the deliveries that will not be tried again, and why. */

import { endsWithAnswer } from "@posthaste/core/replay/mended";
import { freshAnswer } from "@posthaste/http-kit/freshness";
import { packCursor, unpackCursor } from "@posthaste/http-kit/list-cursor";
import { pageOf, pageQuery } from "@posthaste/http-kit/page";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import type { CountedKind } from "@posthaste/read-model/projection";
import { z } from "zod";
import { deadLetterFilterQuery, filterFrom } from "../../operations/replays/dead-letter-query.ts";
import { groupDeadLetters, NOTHING_LEFT, remedyOf } from "./dead-letter-groups.ts";
import { listedDeadLetter, momentOf, reason, reasonClass, viewEntry } from "./dead-letter-view.ts";
import { decodeGroupCursor, encodeGroupCursor } from "./group-cursor.ts";
import { decodeCursor, encodeCursor } from "./page-cursor.ts";
import type { VisibleDeadLetters } from "./visible-dead-letters.ts";

const deadLetterQuery = pageQuery.extend(deadLetterFilterQuery);
const listQuery = deadLetterQuery.extend({
  open: z.enum(["true", "false"]).optional().describe("True for the open ones alone."),
});
const time = z.iso.datetime();

const deadLetterCount = z.object({
  destinationId: z.string(),
  reason,
  count: z.int(),
});

const deadLetterGroup = z.object({
  destinationId: z.string(),
  reason,
  reasonClass,
  error: z.string().nullable().describe("What its first URL came to; null where there was no attempt."),
  count: z.int().describe("All of them."),
  open: z.int().describe("Those that were neither delivered since nor sent again in vain."),
  deliveredSince: z.int().describe("Those that an attempt delivered which began after they had died."),
  firstAt: time,
  lastAt: time,
  hours: z
    .array(z.object({ at: time, count: z.int(), open: z.int() }))
    .describe("Those hours in which one died, oldest first."),
  sample: z.string().describe("The place of the newest one."),
  endsWithAnswer: z
    .boolean()
    .describe("A destination that answers again can take them: the receiver refused them, or did not answer in time."),
  remedy: z.string().describe("What helps, in words."),
});

const leftOut = z
  .object({
    suppressed: z.int().describe("Dead letters of users whose events a deletion request stopped."),
    purged: z.int().describe("Dead letters that were purged."),
  })
  .describe("How many fitted and are not shown.");

export function deadLetterRoutes(deadLetters: VisibleDeadLetters): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/dead-letters",
      operation: "listDeadLetters",
      summary: "Dead letters, newest first",
      query: listQuery,
      answer: {
        status: 200,
        description: "One page of dead letters.",
        body: {
          name: "DeadLetterPage",
          schema: pageOf(listedDeadLetter).extend({
            leftOut,
            searchedTo: time.nullable().describe("Where the search ended early, go on with nextCursor; else null."),
          }),
        },
      },
      handle: async ({ query: { limit, cursor, open, ...asked } }) => {
        const after = cursor === undefined ? undefined : decodeCursor(cursor);
        const fresh = deadLetters.freshness;
        const page = await deadLetters.page({ filter: filterFrom(asked), isOpen: open === "true", limit, after });
        return {
          data: page.entries.map((entry) => viewEntry(entry, deadLetters.stateOf(entry))),
          nextCursor: page.next === null ? null : encodeCursor(page.next),
          ...freshAnswer(fresh),
          leftOut: page.leftOut,
          searchedTo: momentOf(page.searchedToMs),
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
          schema: pageOf(deadLetterCount).extend({ leftOut }),
        },
      },
      handle: async ({ query: { limit, cursor, ...asked } }) => {
        const after = cursor === undefined ? undefined : decodeCountCursor(cursor);
        const fresh = deadLetters.freshness;
        const { counts, leftOut: hidden, next } = await deadLetters.counts({ filter: filterFrom(asked), limit, after });
        return {
          data: counts
            .filter(({ count }) => count > 0)
            .map(({ count, ...of }) => ({ destinationId: of.destinationId, reason: reason.parse(of.kind), count })),
          nextCursor: next === null ? null : encodeCountCursor(next),
          ...freshAnswer(fresh),
          leftOut: hidden,
        };
      },
    }),
    groupRoute(deadLetters),
  ];
}

function groupRoute(deadLetters: VisibleDeadLetters): Route {
  const schema = pageOf(deadLetterGroup).extend({ groups: z.int().describe("How many there are on all pages.") });
  return defineRoute({
    method: "GET",
    path: "/v1/dead-letters/groups",
    operation: "groupDeadLetters",
    summary: "Dead letters by destination, reason and error, with what helps; those with the most open first",
    query: deadLetterQuery,
    isLong: true,
    answer: {
      status: 200,
      description:
        "One page of groups. They are counted for each page: one that grows between two may be on both, or on none.",
      body: { name: "DeadLetterGroupPage", schema },
    },
    handle: async ({ query: { limit, cursor, ...asked } }) => {
      const after = cursor === undefined ? undefined : decodeGroupCursor(cursor);
      const fresh = deadLetters.freshness;
      const { groups, next, total } = await groupDeadLetters(deadLetters, { filter: filterFrom(asked), limit, after });
      return {
        data: groups.map(({ firstMs, lastMs, hours, ...group }) => ({
          ...group,
          firstAt: new Date(firstMs).toISOString(),
          lastAt: new Date(lastMs).toISOString(),
          hours: [...hours].sort(([a], [b]) => a - b).map(([ms, of]) => ({ at: new Date(ms).toISOString(), ...of })),
          endsWithAnswer: endsWithAnswer(group.reason),
          remedy: group.open === 0 ? NOTHING_LEFT : remedyOf(group),
        })),
        nextCursor: next === null ? null : encodeGroupCursor(next),
        ...freshAnswer(fresh),
        groups: total,
      };
    },
  });
}

function encodeCountCursor({ destinationId, kind }: CountedKind): string {
  return packCursor(kind, destinationId);
}

function decodeCountCursor(cursor: string): CountedKind {
  const [kind, destinationId] = unpackCursor<[string, string]>(cursor, /^([a-z_]+):(.+)$/s);
  return { kind, destinationId };
}
