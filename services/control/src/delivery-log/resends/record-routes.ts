/** The route of the record behind a delivery: its body, its requests' headers, and its place. */

import type { ConfigStore } from "@posthaste/configuration/config-store";
import type { Destination } from "@posthaste/core/config/destination";
import { EVENT_TYPES, OTHER } from "@posthaste/core/event/event";
import { isoTime } from "@posthaste/http-kit/moment";
import { Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { shownRequests } from "@posthaste/webhook/request";
import { z } from "zod";
import type { SentRecord, SentRecords } from "./sent-records.ts";

export interface RecordRoutesOptions {
  readonly records: SentRecords;
  readonly destinations: ConfigStore<Destination>;
}

const time = z.iso.datetime();

const recordQuery = z.strictObject({
  messageId: z.string("expected the message id of the event").min(1),
  destinationId: z.string("expected the id of a destination").min(1),
  sourceId: z.string().optional().describe("Where two sources sent the same message id."),
  record: z
    .string()
    .regex(/^\d{1,12}:\d{1,10}:\d{1,16}$/, "expected a delay in ms, a partition and an offset, such as 10000:1:77")
    .optional()
    .describe("Of one attempt, its record in GET /v1/deliveries: `delayMs:partition:offset`; else the newest."),
});

const deliveryRecord = z.object({
  messageId: z.string(),
  destinationId: z.string(),
  sourceId: z.string(),
  type: z.enum([...EVENT_TYPES, OTHER]),
  event: z.string().nullable().describe("track: the event's name; page, screen: the name."),
  receivedAt: time.describe("When ingest took the call."),
  replayId: z.string().nullable().describe("The replay or the resend that sent it; null for neither."),
  attempts: z.int().describe("Made before this record was written."),
  place: z.object({ topic: z.string(), partition: z.int(), offset: z.int(), time }),
  body: z.string().describe("The exact request body."),
  rest: z.string().nullable().describe("What the event has beside the body, as JSON; null for nothing."),
  requests: z
    .array(z.object({ url: z.string(), headers: z.record(z.string(), z.string()) }))
    .describe(
      "What goes to each URL that it owes, by the destination as it is now; secrets, static headers' values and signatures read ***. Empty where the destination is no more.",
    ),
});

export function recordRoutes({ records, destinations }: RecordRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/deliveries/record",
      operation: "getDeliveryRecord",
      summary:
        "The record behind a delivery's newest attempt, deferral or dead letter, or one attempt: body and headers",
      query: recordQuery,
      answer: {
        status: 200,
        description: "What is sent.",
        body: { name: "DeliveryRecord", schema: deliveryRecord },
      },
      refusals: ["not_found", "conflict"],
      handle: async ({ query }) => {
        const found = await records.find(query);
        const { messageId, destinationId } = query;
        if (found === null) {
          throw new Problem("not_found", `the record of ${messageId} for ${destinationId} is past its retention`);
        }
        if (found.isSuppressed) {
          const why = "a deletion request stopped the user's events";
          throw new Problem("not_found", `nothing is shown of ${messageId} for ${destinationId}: ${why}`);
        }
        return viewRecord(found, await destinations.find(destinationId));
      },
    }),
  ];
}

function viewRecord(found: SentRecord, destination: Destination | undefined): z.output<typeof deliveryRecord> {
  const { delivery, record, replay, attempts, urls } = found;
  const { messageId, destinationId, sourceId, type, event, receivedAtMs, body, restJson } = delivery;
  const { topic, partition, offset, timestampMs } = record;
  const requests = destination === undefined ? [] : shownRequests(destination, { messageId, attempt: attempts + 1 });
  return {
    ...{ messageId, destinationId, sourceId, type, event, replayId: replay?.id ?? null, attempts },
    receivedAt: isoTime(receivedAtMs),
    place: { topic, partition, offset, time: isoTime(timestampMs) },
    body: Buffer.from(body).toString(),
    rest: restJson,
    requests: requests
      .filter(({ url }) => urls === null || urls.includes(url))
      .map(({ url, headers }) => ({ url, headers: { ...headers } })),
  };
}
