/**
 * The routes of purges, after which dead letters are not shown any more. A log cannot be cut in the middle, so that a
 * purge is a mark.
 */

import { invalidInput } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import { deadLetterInput, filterFrom } from "./dead-letter-query.ts";
import { assertPlanAlone, type ReplayHandlers } from "./replay-handlers.ts";
import { planAnswer, viewPlan } from "./replay-view.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long the topic keeps a dead letter, in ms. */
const KEPT_MS = 14 * DAY_MS;

const purgeInput = z.strictObject({
  plan: z.string().optional().describe("Purges what a dry run counted: those and no others."),
  ...deadLetterInput,
  dryRun: z
    .boolean()
    .default(false)
    .describe("Count only, and keep the plan for an hour; with a plan: say what it counted."),
});

const purgeAnswer = planAnswer.extend({
  id: z.string().nullable().describe("Of the purge; null for a dry run."),
  matched: z.int().describe("Dead letters that are purged, or would be."),
  bytesKeptUntil: z.iso
    .datetime()
    .nullable()
    .describe("Until then the topic may hold the records themselves, for whoever reads it; null for a dry run."),
});

export function purgeRoutes(handlers: ReplayHandlers): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/dead-letters/purge",
      operation: "purgeDeadLetters",
      summary: "Have dead letters be no more listed, counted, exported or replayed: counted first, then by the plan",
      isLong: true,
      body: { name: "PurgeInput", schema: purgeInput },
      answer: { status: 202, description: "It is planned, or done.", body: { name: "Purge", schema: purgeAnswer } },
      refusals: ["not_found", "conflict"],
      handle: async ({ body, signal, by }) => {
        const { plan: planId, dryRun, ...asked } = body;
        if (planId !== undefined) {
          assertPlanAlone({ ...body, dryRun: false });
          if (dryRun) {
            const { plan } = await handlers.planned(planId, "purge");
            return { ...viewPlan({ plan, counts: [] }, { id: null, planId }), bytesKeptUntil: null };
          }
          const { id, plan } = await handlers.start(planId, { purpose: "purge", by });
          const keptUntilMs = (plan.startedAtMs ?? plan.createdAtMs) + KEPT_MS;
          return {
            ...viewPlan({ plan, counts: [] }, { id, planId: null }),
            bytesKeptUntil: new Date(keptUntilMs).toISOString(),
          };
        }
        if (!dryRun) {
          throw invalidInput([
            { path: "plan", message: "count them first with dryRun, then send the plan that is answered" },
          ]);
        }
        const input = { purpose: "purge", filter: filterFrom(asked), again: false, ratePerSecond: null } as const;
        const { id, made } = await handlers.plan(input, signal);
        return { ...viewPlan(made, { id: null, planId: id }), bytesKeptUntil: null };
      },
    }),
  ];
}
