/**
 * The route that tells how far the plans are that are being counted: a count of a million dead letters takes seconds.
 */

import { freshness } from "@posthaste/http-kit/freshness";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import type { ReplayHandlers } from "./replay-handlers.ts";
import { countingAnswer, viewCounting } from "./replay-view.ts";

export function countingRoute(handlers: Pick<ReplayHandlers, "counting">): Route {
  return defineRoute({
    method: "GET",
    path: "/v1/dead-letters/counting",
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
