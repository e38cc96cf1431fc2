/**
 * Routes for test-sends: control sends a made-up event at once to every URL of a destination, and answers with each
 * URL's outcome.
 */

import type { Destination } from "@posthaste/core/config/destination";
import { destinationSettingsInput } from "@posthaste/core/config/destination-settings";
import { ATTEMPT_OUTCOMES } from "@posthaste/core/delivery/outcome";
import { EVENT_TYPES } from "@posthaste/core/event/event";
import { toWebhookBody } from "@posthaste/core/routing/body";
import type { Clock } from "@posthaste/core/time";
import { createId } from "@posthaste/http-kit/identifiers";
import { tenths } from "@posthaste/http-kit/moment";
import { Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import type { WebhookSender } from "@posthaste/webhook/sender";
import { z } from "zod";
import { sampleEvent } from "../sources/sample-event.ts";
import { assertOpened, destinationOf, type FindDestinations } from "./destination-access.ts";
import { unsavedDestination } from "./unsaved-destination.ts";

export interface DestinationTestRoutesOptions {
  readonly destinations: FindDestinations;
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

const settingsTestInput = z.strictObject({
  settings: destinationSettingsInput.partial(),
  type: testInput.shape.type,
  destinationId: z
    .string()
    .optional()
    .describe("Whose stored settings stand for what is absent, and whose stored values for what reads as masked."),
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

export function destinationTestRoutes(options: DestinationTestRoutesOptions): readonly Route[] {
  const { destinations } = options;
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
        const destination = await destinationOf(params.id, destinations);
        assertOpened(destination);
        if (body.signWith === "next" && destination.secrets.next === null) {
          throw new Problem("conflict", `${params.id} has no next secret: name one first`);
        }
        return sendTest(options, destination, body);
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/destinations/test",
      operation: "testSettings",
      summary: "The same with settings that nobody saved",
      body: { name: "SettingsTestInput", schema: settingsTestInput },
      answer: { status: 200, description: "What each URL came to.", body: { name: "TestAnswer", schema: testAnswer } },
      refusals: ["not_found", "conflict"],
      handle: async ({ body: { settings, type, destinationId } }) => {
        const stored = destinationId === undefined ? null : await destinationOf(destinationId, destinations);
        if (stored !== null) assertOpened(stored);
        const unsaved = unsavedDestination(stored, settings, options.clock.nowMs());
        return sendTest(options, unsaved, { type, signWith: "active" });
      },
    }),
  ];
}

type Asked = z.output<typeof testInput>;

async function sendTest(
  { sender, clock }: DestinationTestRoutesOptions,
  destination: Destination,
  { type, signWith }: Asked,
): Promise<z.input<typeof testAnswer>> {
  const messageId = createId("test");
  const event = sampleEvent(type, { messageId, nowMs: clock.nowMs() });
  const body = Buffer.from(toWebhookBody(event, destination.payload));
  const urls = await sender.test({ destination, messageId, body, signWith });
  return { messageId, type, urls: urls.map((url) => ({ ...url, durationMs: tenths(url.durationMs) })) };
}
