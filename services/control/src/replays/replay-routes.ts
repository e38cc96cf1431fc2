/** Replays of dead letters. */
import { DEAD_LETTER_REASONS } from "@posthaste/core/delivery/dead-letter";
import type { Clock } from "@posthaste/core/time";
import { z } from "zod";
import type { VisibleLetters } from "../deliveries/visible-letters.ts";
import { timeRange } from "../http/moment.ts";
import { Problem } from "../http/problem.ts";
import { defineRoute, type Route } from "../http/route.ts";
import { createId } from "../identifiers.ts";
import { REPLAY_STATES, type Replays } from "./replays.ts";

export interface ReplayRoutesOptions {
  readonly letters: VisibleLetters;
  readonly replays: Replays;
  readonly clock: Clock;
}

/** More pairs of destination and reason than there can be. */
const ALL_COUNTS = 1_000_000;

const replayInput = z.strictObject({
  destinationId: z.string().optional(),
  reason: z.enum(DEAD_LETTER_REASONS, `expected one of ${DEAD_LETTER_REASONS.join(", ")}`).optional(),
  ...timeRange,
  dryRun: z.boolean().default(false).describe("Count only."),
});

const leftOut = z
  .object({
    suppressed: z
      .int()
      .describe("Those of users whose events a deletion request stopped, and what was dropped for that."),
  })
  .describe("Dead letters that fitted and are not sent again.");

const replayStart = z.object({
  id: z.string().nullable().describe("Null when nothing is sent: a dry run, or nothing matched."),
  matched: z.int(),
  leftOut,
});

const time = z.iso.datetime();
const replayAnswer = z.object({
  id: z.string(),
  state: z.enum(REPLAY_STATES),
  matched: z.int().describe("Dead letters that fitted when it was asked for."),
  replayed: z.int().describe("Deliveries that the brokers have."),
  leftOut,
  createdAt: time,
  endedAt: time.nullable().describe("Null before its end."),
});

export function replayRoutes({ letters, replays, clock }: ReplayRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/dead-letters/replay",
      operation: "replayDeadLetters",
      summary: "Send dead letters again; they stay in their topic, and a replay of the same ones sends them once more",
      body: { name: "ReplayInput", schema: replayInput },
      answer: { status: 202, description: "It has begun.", body: { name: "ReplayStart", schema: replayStart } },
      handle: async ({ body: { destinationId, reason, since, until, dryRun } }) => {
        if (!letters.isComplete) {
          throw new Problem("unavailable", "the dead letters are still being read: try again soon");
        }
        const nowMs = clock.nowMs();
        const filter = { destinationId, sinceMs: since, untilMs: Math.min(until ?? nowMs, nowMs) };
        const { counts, leftOut: hidden } = await letters.counts({ ...filter, kind: reason, limit: ALL_COUNTS });
        const sumOf = (fitting: (kind: string) => boolean) =>
          counts.filter(({ kind }) => fitting(kind)).reduce((sum, { count }) => sum + count, 0);
        // What was dropped for a suppression has no body that could be sent.
        const matched = sumOf((kind) => kind !== "suppressed");
        const leftOut = { suppressed: hidden + sumOf((kind) => kind === "suppressed") };
        if (dryRun || matched === 0) return { id: null, matched, leftOut };
        const id = createId("rpl");
        replays.start(id, { ...filter, reason }, matched);
        return { id, matched, leftOut };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/replays/{id}",
      operation: "getReplay",
      summary: "How far a replay is",
      answer: { status: 200, description: "The replay.", body: { name: "Replay", schema: replayAnswer } },
      refusals: ["not_found"],
      handle: ({ params }) => {
        const replay = replays.get(params.id);
        if (replay === undefined) throw new Problem("not_found", `this control knows of no replay ${params.id}`);
        const { createdAtMs, endedAtMs, leftOut: suppressed, ...fields } = replay;
        return {
          ...fields,
          leftOut: { suppressed },
          createdAt: new Date(createdAtMs).toISOString(),
          endedAt: endedAtMs === null ? null : new Date(endedAtMs).toISOString(),
        };
      },
    }),
  ];
}
