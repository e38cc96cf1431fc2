/** The routes of replays: to plan, start, look at and stop them. */

import { replayOutcomes } from "@posthaste/dead-letters/replay-outcomes";
import type { HeldPlan } from "@posthaste/dead-letters/replay-store";
import { freshness } from "@posthaste/http-kit/freshness";
import { pageOf, pageQuery } from "@posthaste/http-kit/page";
import { defineRoute, type Route, withFormerPaths } from "@posthaste/http-kit/route";
import type { ReadModel } from "@posthaste/read-model/read-model";
import { z } from "zod";
import { deadLetterInput, filterFrom } from "./dead-letter-query.ts";
import { assertPlanAlone, type ReplayHandlers } from "./replay-handlers.ts";
import { countingAnswer, planAnswer, replayAnswer, viewCounting, viewPlan, viewReplay } from "./replay-view.ts";

const replayInput = z.strictObject({
  plan: z.string().optional().describe("Starts what a dry run counted: those and no others are sent."),
  ...deadLetterInput,
  again: z.boolean().default(false).describe("Those too that were delivered since or replayed before."),
  ratePerSecond: z.number().positive().max(1_000_000).optional().describe("Deliveries a second at the most."),
  dryRun: z.boolean().default(false).describe("Count only, and keep the plan for an hour."),
});

const listQuery = pageQuery.extend({
  order: z.enum(["oldest_first", "newest_first"]).default("oldest_first").describe("By when they were planned."),
});

/** The acts on a replay that was started. */
const ACTS = {
  pause: "Stop a replay until it is resumed",
  resume: "Go on with a replay that is paused",
  cancel: "Stop a replay for good: what was sent stays sent",
} as const;

/** The paths of the release before, which go with the next one. */
const FORMER_PATHS = {
  replayDeadLetters: "/v1/dead-letters/replay",
  listCounting: "/v1/dead-letters/counting",
};

type Outcomes = Pick<ReadModel, "replayed">;

export function replayRoutes(handlers: ReplayHandlers, readModel: Outcomes): readonly Route[] {
  return withFormerPaths([...routesOfReplays(handlers, readModel), countingRoute(handlers)], FORMER_PATHS);
}

function routesOfReplays(handlers: ReplayHandlers, readModel: Outcomes): readonly Route[] {
  const viewAll = (held: readonly HeldPlan[]) => viewReplays(readModel, held);
  const viewOne = async (held: HeldPlan) => (await viewAll([held]))[0] ?? viewReplay(held, null);
  const named = { name: "Replay", schema: replayAnswer };
  return [
    defineRoute({
      method: "POST",
      path: "/v1/replays",
      operation: "replayDeadLetters",
      summary: "Send dead letters again, which stay in their topic: counted first, then sent by the plan",
      isLong: true,
      body: { name: "ReplayInput", schema: replayInput },
      answer: {
        status: 202,
        description: "It is planned, or has begun.",
        body: { name: "ReplayStart", schema: planAnswer },
      },
      refusals: ["not_found", "conflict"],
      handle: async ({ body, signal, by }) => {
        const { plan: planId, dryRun, ratePerSecond, again, ...asked } = body;
        if (planId !== undefined) {
          assertPlanAlone(body);
          const { id, plan } = await handlers.start(planId, { purpose: "replay", by, ratePerSecond });
          return viewPlan({ plan, counts: [] }, { id, planId: null });
        }
        const input = {
          purpose: "replay",
          filter: filterFrom(asked),
          again,
          ratePerSecond: ratePerSecond ?? null,
        } as const;
        const { id, made } = await handlers.plan(input, signal);
        if (dryRun || id === null) return viewPlan(made, { id: null, planId: id });
        await handlers.start(id, { purpose: "replay", by });
        return viewPlan(made, { id, planId: null });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/replays",
      operation: "listReplays",
      summary: "Replays, which are kept for 14 days after their end",
      query: listQuery,
      answer: { status: 200, description: "One page.", body: { name: "ReplayPage", schema: pageOf(replayAnswer) } },
      handle: async ({ query: { order, ...query } }) => {
        const page = handlers.list(query, order);
        return { ...page, data: await viewAll(page.data) };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/replays/{id}",
      operation: "getReplay",
      summary: "How far a replay is",
      answer: { status: 200, description: "The replay, or the plan of one.", body: named },
      refusals: ["not_found"],
      handle: async ({ params }) => viewOne(await handlers.find(params.id)),
    }),
    ...(["pause", "resume", "cancel"] as const).map((act) =>
      defineRoute({
        method: "POST",
        path: `/v1/replays/{id}/${act}` as const,
        operation: `${act}Replay`,
        summary: ACTS[act],
        answer: { status: 200, description: "The replay, when that has happened.", body: named },
        refusals: ["not_found", "conflict"],
        handle: async ({ params, by }) => viewOne(await handlers.act(params.id, act, by)),
      }),
    ),
  ];
}

/** The replays with the outcomes of their deliveries. */
async function viewReplays(readModel: Outcomes, held: readonly HeldPlan[]): Promise<z.input<typeof replayAnswer>[]> {
  const ids = held.map(({ id }) => id);
  const outcomes = await replayOutcomes(readModel, ids);
  return held.map((each) => viewReplay(each, outcomes?.get(each.id) ?? null));
}

/** Tells how far the plans are that are being counted: a count of a million dead letters takes seconds. */
function countingRoute(handlers: Pick<ReplayHandlers, "counting">): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/replays/counting",
    operation: "listCounting",
    summary: "How far the counts for replays and purges are that are made now, by each process one after the other",
    answer: {
      status: 200,
      description:
        "Those of each process in the order in which they were asked for. Of another than the one that is asked, those that take longer than a second.",
      body: { name: "CountingPlans", schema: z.object({ data: z.array(countingAnswer), ...freshness }) },
    },
    handle: async () => {
      const { data, ...fresh } = handlers.counting();
      return { data: data.map(viewCounting), ...fresh };
    },
  });
}
