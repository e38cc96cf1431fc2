/** Routes: the list of the records that no service could read, and producing them again. */

import type { AuditTrail } from "@posthaste/configuration/audit-trail";
import { UNREADABLE_REASONS } from "@posthaste/contracts/unreadable-headers";
import type { Freshness } from "@posthaste/core/freshness";
import { Lanes } from "@posthaste/core/lanes";
import type { Clock } from "@posthaste/core/time";
import { freshAnswer } from "@posthaste/http-kit/freshness";
import { packCursor, unpackCursor } from "@posthaste/http-kit/list-cursor";
import { pageOf, pageQuery } from "@posthaste/http-kit/page";
import { Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import type { OutgoingRecord } from "@posthaste/kafka/producer/producer";
import { z } from "zod";
import type { Reproduced } from "./reproduction.ts";
import { type EntryName, newestFirst, placeOf, type UnreadableEntry } from "./unreadable-entries.ts";
import type { UnreadableLog } from "./unreadable-log.ts";

export interface UnreadableRoutesOptions {
  readonly unreadableLog: UnreadableLog;
  readonly clock: Clock;
  readonly trail: AuditTrail;
  readonly reproduce: (entries: readonly UnreadableEntry[], audited: readonly OutgoingRecord[]) => Promise<Reproduced>;
}

const MOST_AT_ONCE = 1000;
const REFRESH_MS = 5000;

const reason = z.enum(UNREADABLE_REASONS, `expected one of ${UNREADABLE_REASONS.join(", ")}`);
const filter = {
  topic: z.string().optional().describe("Only records of this topic."),
  reason: reason.optional(),
};

const listQuery = pageQuery.extend({
  ...filter,
  reproduced: z.enum(["true", "false"]).default("false").describe("true: those that were produced again, too."),
});

const unreadableRecord = z.object({
  place: z.string().describe("topic/partition/offset that it was read from."),
  topic: z.string(),
  partition: z.int(),
  offset: z.int(),
  reason,
  error: z.string().describe("Why it could not be read, in a sentence."),
  time: z.iso.datetime().describe("When it was put aside."),
  by: z.string().describe("The service that could not read it."),
  bytes: z.int().nullable().describe("Of its value; null where that stands in its own topic alone."),
  reproduced: z.boolean(),
});

const reproduceInput = z.strictObject({
  ...filter,
  places: z.array(z.string()).max(MOST_AT_ONCE).optional().describe("Only these: topic/partition/offset, as listed."),
  cursor: z.string().optional().describe("nextCursor of the call before: only what comes after its records."),
  dryRun: z.boolean().default(false).describe("Count only."),
});

const reproduceAnswer = z.object({
  matched: z.int().describe("Records that fit, from the cursor on, and were not produced again yet."),
  reproduced: z.int().describe(`Those that the brokers have; ${MOST_AT_ONCE} a call at the most.`),
  refused: z.int().describe("Those that their topic does not take: they are larger than its limit now."),
  refusedPlaces: z.array(z.string()).describe("The places of those: topic/partition/offset, oldest first."),
  nextCursor: z
    .string()
    .nullable()
    .describe("Goes on behind the records of this call, those that did not go among them; null where none is left."),
});

const NONE_REPRODUCED = { reproduced: 0, refused: 0, refusedPlaces: [], nextCursor: null };

export function unreadableRoutes(options: UnreadableRoutesOptions): readonly Route[] {
  const { unreadableLog, reproduce, trail, clock } = options;
  const lanes = new Lanes();
  return [
    defineRoute({
      method: "GET",
      path: "/v1/unreadable",
      operation: "listUnreadable",
      summary: "Records that no service could read, newest first",
      query: listQuery,
      answer: {
        status: 200,
        description: "One page.",
        body: { name: "UnreadablePage", schema: pageOf(unreadableRecord) },
      },
      handle: async ({ query: { reproduced, limit, cursor, ...wanted } }) => {
        const after = cursor === undefined ? null : decodeCursor(cursor);
        const fresh = await refreshed(unreadableLog, clock);
        // The last entry of the page before may no longer exist, so its name is compared, not looked up.
        const rest = unreadableLog
          .entries()
          .filter((entry) => fits(entry, wanted) && (reproduced === "true" || !entry.isReproduced))
          .filter((entry) => after === null || newestFirst(entry, after) > 0);
        const page = rest.slice(0, limit);
        const last = page.at(-1);
        const isLast = last === undefined || rest.length <= limit;
        return {
          data: page.map(view),
          nextCursor: isLast ? null : encodeCursor(last),
          ...freshAnswer(fresh),
        };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/unreadable/reproduce",
      operation: "reproduceUnreadable",
      summary: "Produce unreadable records again to their own topics, now that they can be read",
      body: { name: "ReproduceInput", schema: reproduceInput },
      answer: { status: 200, description: "How many.", body: { name: "Reproduced", schema: reproduceAnswer } },
      // The calls run one after the other: each knows which records the one before it produced again.
      handle: ({ body: { dryRun, cursor, ...wanted }, by }) =>
        lanes.inTurn("", async () => {
          const behind = cursor === undefined ? null : decodeCursor(cursor);
          await refreshed(unreadableLog, clock);
          // The oldest come first, in the order in which the services put them aside.
          const fitting = unreadableLog
            .entries()
            .filter((entry) => !entry.isReproduced && !entry.isValueOmitted && fits(entry, wanted))
            .filter((entry) => behind === null || newestFirst(entry, behind) < 0)
            .reverse();
          const chosen = fitting.slice(0, MOST_AT_ONCE);
          const last = chosen.at(-1);
          if (dryRun || last === undefined) return { ...NONE_REPRODUCED, matched: fitting.length };
          const to = { ...wanted, records: chosen.length };
          const audited = trail.recordsOf(by, { target: "unreadable", from: null, to });
          const { count, refused, gone } = await reproduce(chosen, audited);
          for (const entry of gone) unreadableLog.drop(entry);
          return {
            ...{ matched: fitting.length - gone.length, reproduced: count, refused: refused.length },
            refusedPlaces: refused.map(placeOf),
            nextCursor: fitting.length > chosen.length ? encodeCursor(last) : null,
          };
        }),
    }),
  ];
}

/** Brings the log of unreadable records up to date with the topic and tells how fresh it is. */
async function refreshed(unreadableLog: UnreadableLog, clock: Clock): Promise<Freshness> {
  const askedMs = clock.nowMs();
  try {
    await unreadableLog.refresh(REFRESH_MS);
  } catch {
    throw new Problem("unavailable", "the unreadable records are still being read: try again soon");
  }
  return { asOfMs: askedMs, complete: true };
}

interface Wanted {
  readonly topic?: string | undefined;
  readonly reason?: UnreadableEntry["reason"] | undefined;
  readonly places?: readonly string[] | undefined;
}

function fits(entry: UnreadableEntry, { topic, reason: wanted, places }: Wanted): boolean {
  if (topic !== undefined && entry.topic !== topic) return false;
  if (wanted !== undefined && entry.reason !== wanted) return false;
  return places === undefined || places.includes(placeOf(entry));
}

function view(entry: UnreadableEntry): z.output<typeof unreadableRecord> {
  const { topic, partition, offset, reason: why, error, atMs, by, bytes, isReproduced } = entry;
  return {
    ...{ place: placeOf(entry), topic, partition, offset, reason: why, error, by, bytes, reproduced: isReproduced },
    time: new Date(atMs).toISOString(),
  };
}

function encodeCursor({ atMs, topic, partition, offset }: EntryName): string {
  return packCursor(atMs, partition, offset, topic);
}

function decodeCursor(cursor: string): EntryName {
  const shape = /^(\d{1,15}):(\d{1,15}):(\d{1,15}):(.+)$/s;
  const [atMs, partition, offset, topic] = unpackCursor<[string, string, string, string]>(cursor, shape);
  return { atMs: Number(atMs), topic, partition: Number(partition), offset: Number(offset) };
}
