/** How far plans are that are being made: a count of a million takes seconds. */
import { z } from "zod";
import { defineRoute, type Route } from "../http/route.ts";
import type { ReplayHandlers } from "./replay-handlers.ts";
import { countingAnswer, viewCounting } from "./replay-view.ts";

export function countingRoute(handlers: Pick<ReplayHandlers, "counting">): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/dead-letters/counting",
    operation: "listCounting",
    summary: "How far the counts for replays and purges are that this process makes now, one after the other",
    answer: {
      status: 200,
      description: "In the order in which they were asked for; the first one is counted.",
      body: { name: "CountingPlans", schema: z.object({ data: z.array(countingAnswer) }) },
    },
    handle: async () => ({ data: handlers.counting().map(viewCounting) }),
  });
}
