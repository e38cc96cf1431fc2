/** The delivery log: attempts, newest first. */

import { ATTEMPT_OUTCOMES } from "@posthaste/core/delivery/outcome";
import { EVENT_TYPES, OTHER } from "@posthaste/core/event/event";
import { z } from "zod";
import { tenths } from "../http/milliseconds.ts";
import { timeRange } from "../http/moment.ts";
import { pageOf, pageQuery } from "../http/page.ts";
import { defineRoute, type Route } from "../http/route.ts";
import { attemptFromEntry } from "../read-model/attempt-entry.ts";
import type { JournalEntry } from "../read-model/journal.ts";
import type { ReadModel } from "../read-model/read-model.ts";
import { journalPage } from "./journal-page.ts";

const deliveryQuery = pageQuery.extend({
  destinationId: z.string().optional(),
  outcome: z
    .enum(ATTEMPT_OUTCOMES, `expected one of ${ATTEMPT_OUTCOMES.join(", ")}`)
    .optional()
    .describe("What the attempt as a whole came to."),
  messageId: z.string().optional().describe("X-Message-Id of the requests."),
  ...timeRange,
});

const delivery = z.object({
  time: z.iso.datetime().describe("When the attempt started."),
  destinationId: z.string(),
  sourceId: z.string(),
  messageId: z.string(),
  type: z.enum([...EVENT_TYPES, OTHER]),
  attempt: z.int().describe("1 for the first."),
  outcome: z.enum([...ATTEMPT_OUTCOMES, OTHER]),
  urls: z.array(
    z.object({
      url: z.string(),
      status: z.int().nullable(),
      error: z.string().nullable().describe("Null when a status arrived."),
      durationMs: z.number(),
      answer: z.string().nullable().describe("The start of what the receiver answered, known secrets masked."),
    }),
  ),
});

export function deliveryRoutes(readModel: ReadModel): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/deliveries",
      operation: "listDeliveries",
      summary: "The delivery log: attempts, newest first",
      query: deliveryQuery,
      answer: {
        status: 200,
        description: "One page of attempts.",
        body: { name: "DeliveryPage", schema: pageOf(delivery) },
      },
      handle: ({ query: { outcome, since, until, ...named } }) =>
        journalPage(readModel, "attempts", { ...named, kind: outcome, sinceMs: since, untilMs: until }, view),
    }),
  ];
}

function view(entry: JournalEntry): z.output<typeof delivery> {
  const { startedAtMs, urls, ...attempt } = attemptFromEntry(entry);
  return {
    ...attempt,
    time: new Date(startedAtMs).toISOString(),
    urls: urls.map((url) => ({ ...url, durationMs: tenths(url.durationMs) })),
  };
}
