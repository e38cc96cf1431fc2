/**
 * Test-sends: one event made up for the purpose, sent at once to every URL of a destination, and what each answered.
 */

import type { Destination } from "@posthaste/core/config/destination";
import { ATTEMPT_OUTCOMES } from "@posthaste/core/delivery/outcome";
import { EVENT_TYPES } from "@posthaste/core/event/event";
import { toWebhookBody } from "@posthaste/core/routing/body";
import type { Clock } from "@posthaste/core/time";
import type { WebhookSender } from "@posthaste/webhook/sender";
import { z } from "zod";
import type { ConfigStore } from "../config-store/config-store.ts";
import { sampleEvent } from "../events/sample-event.ts";
import { tenths } from "../http/milliseconds.ts";
import { Problem } from "../http/problem.ts";
import { defineRoute, type Route } from "../http/route.ts";
import { createId } from "../identifiers.ts";
import { assertOpened, findDestination } from "./destination-access.ts";

export interface DestinationTestRoutesOptions {
  readonly destinations: ConfigStore<Destination>;
  readonly sender: WebhookSender;
  readonly clock: Clock;
}

const testInput = z.strictObject({
  type: z
    .enum(EVENT_TYPES, `expected one of ${EVENT_TYPES.join(", ")}`)
    .default("track")
    .describe("The event's type."),
  signWith: z
    .enum(["active", "next"], "expected active or next")
    .default("active")
    .describe("Which shared secret makes X-Signature: next shows that the receiver knows it before the switch."),
});

const testAnswer = z.object({
  messageId: z.string().describe("X-Message-Id of the requests."),
  type: z.enum(EVENT_TYPES),
  urls: z.array(
    z.object({
      url: z.string(),
      outcome: z.enum(ATTEMPT_OUTCOMES),
      status: z.int().nullable(),
      error: z.string().nullable().describe("Null when a status arrived."),
      durationMs: z.number(),
      headers: z.record(z.string(), z.string()).describe("As they were sent; values of static headers read ***."),
      body: z.string().describe("As it was sent."),
      answer: z.string().nullable().describe("The start of what the receiver answered, known secrets masked."),
    }),
  ),
});

export function destinationTestRoutes({ destinations, sender, clock }: DestinationTestRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/destinations/{id}/test",
      operation: "testDestination",
      summary: "Send a made-up event to every URL now, enabled or not, and see what each answers",
      body: { name: "TestInput", schema: testInput },
      answer: { status: 200, description: "What each URL came to.", body: { name: "TestAnswer", schema: testAnswer } },
      refusals: ["not_found", "conflict"],
      handle: async ({ params, body }) => {
        const destination = findDestination(destinations.get(params.id), params.id);
        assertOpened(destination);
        if (body.signWith === "next" && destination.secrets.next === null) {
          throw new Problem("conflict", `${params.id} has no next secret: name one at /secret/next first`);
        }
        const messageId = createId("test");
        const event = sampleEvent(body.type, { messageId, nowMs: clock.nowMs() });
        const urls = await sender.test({
          destination,
          messageId,
          body: Buffer.from(toWebhookBody(event, destination.payload)),
          signWith: body.signWith,
        });
        return {
          messageId,
          type: body.type,
          urls: urls.map((url) => ({ ...url, durationMs: tenths(url.durationMs) })),
        };
      },
    }),
  ];
}
