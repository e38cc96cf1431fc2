/** Routes that show and change test receivers. */

import { createId } from "@posthaste/http-kit/identifiers";
import { isoTime } from "@posthaste/http-kit/moment";
import { Problem } from "@posthaste/http-kit/problem";
import { defineRoute, type Route } from "@posthaste/http-kit/route";
import { z } from "zod";
import { destinationOf, type FindDestinations } from "../../configuration/destinations/destination-access.ts";
import {
  MAX_DELAY_MS,
  type ReceivedRequest,
  SIGNATURE_STATES,
  type TestReceiver,
  type TestReceivers,
} from "./test-receivers.ts";

export interface TestReceiverRoutesOptions {
  /** Null where test receivers are off. */
  readonly receivers: TestReceivers | null;
  /** The URL of this process, under which `/receive/` is. */
  readonly url: () => string;
  readonly destinations: FindDestinations;
}

const status = z.int().min(200).max(599).describe("What requests are answered with.");
const delayMs = z.int().min(0).max(MAX_DELAY_MS).describe("How long an answer takes.");
const destinationId = z.string().nullable().describe("By whose secret X-Signature is checked; null for none.");

const receiverInput = z.strictObject({
  id: z
    .string()
    .regex(/^rcv_[0-9a-z]{16}$/, "expected the id of an earlier test receiver, rcv_ and 16 characters")
    .optional()
    .describe("To have one back that control forgot, under the URL that it had."),
  destinationId: destinationId.default(null),
  status: status.default(200),
  delayMs: delayMs.default(0),
});
const receiverPatch = z.strictObject({
  destinationId: destinationId.optional(),
  status: status.optional(),
  delayMs: delayMs.optional(),
});

const receiver = z.object({
  id: z.string(),
  url: z.string().describe("What a destination names as its URL."),
  ...{ destinationId, status, delayMs },
  createdAt: z.iso.datetime(),
  received: z.int().describe("How many requests came, kept or not."),
});

const request = z.object({
  seq: z.int().describe("Rises with every request of the receiver."),
  time: z.iso.datetime(),
  method: z.string(),
  headers: z.record(z.string(), z.string()).describe("By name; values that are not a delivery's own read ***."),
  bodyBase64: z.string().describe("The first 64 KB of the body, byte for byte."),
  bytes: z.int().describe("Of the whole body."),
  signature: z.enum(SIGNATURE_STATES).describe("unchecked where no secret is known to check it by."),
});

const receiverAnswer = { name: "TestReceiver", schema: receiver };
const receiverList = { name: "TestReceiverList", schema: z.object({ data: z.array(receiver) }) };
const receivedAnswer = {
  name: "ReceivedRequests",
  schema: receiver.extend({ requests: z.array(request).describe("The newest 200, in the order in which they came.") }),
};
const receivedQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0).describe("Only requests with a higher seq."),
});

export function testReceiverRoutes(options: TestReceiverRoutesOptions): readonly Route[] {
  const { url, destinations } = options;
  const receivers = (): TestReceivers => {
    if (options.receivers !== null) return options.receivers;
    throw new Problem("conflict", "test receivers are off: POSTHASTE_TEST_RECEIVER=true of control turns them on");
  };
  const found = (value: TestReceiver | undefined, id: string): TestReceiver => {
    if (value !== undefined) return value;
    throw new Problem("not_found", `there is no test receiver ${id}: they end with control, and when newer ones come`);
  };
  const assertDestination = async (id: string | null | undefined): Promise<void> => {
    if (typeof id === "string") await destinationOf(id, destinations);
  };
  const view = (value: TestReceiver) => viewReceiver(value, url());
  const refusals = ["not_found", "conflict"] as const;
  return [
    defineRoute({
      method: "POST",
      path: "/v1/test-receivers",
      operation: "createTestReceiver",
      summary: "Make a receiver on this machine that keeps what is delivered to it",
      body: { name: "TestReceiverInput", schema: receiverInput },
      answer: { status: 201, description: "The receiver.", body: receiverAnswer },
      refusals,
      handle: async ({ body }) => {
        await assertDestination(body.destinationId);
        const { id = createId("rcv"), ...behaviour } = body;
        if (receivers().has(id)) throw new Problem("conflict", `there is a test receiver ${id}`);
        return view(receivers().make(id, behaviour));
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/test-receivers",
      operation: "listTestReceivers",
      summary: "The test receivers of this process",
      answer: { status: 200, description: "The receivers, oldest first.", body: receiverList },
      refusals: ["conflict"],
      handle: () => ({ data: receivers().all().map(view) }),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/test-receivers/{id}",
      operation: "getTestReceiver",
      summary: "A test receiver and what came to it",
      query: receivedQuery,
      answer: { status: 200, description: "The receiver with its newest requests.", body: receivedAnswer },
      refusals,
      handle: ({ params, query }) => {
        const value = found(receivers().find(params.id), params.id);
        const requests = value.requests.filter(({ seq }) => seq > query.after).map(viewRequest);
        return { ...view(value), requests };
      },
    }),
    defineRoute({
      method: "PATCH",
      path: "/v1/test-receivers/{id}",
      operation: "changeTestReceiver",
      summary: "Change what a test receiver answers; what is absent stays",
      body: { name: "TestReceiverPatch", schema: receiverPatch },
      answer: { status: 200, description: "The receiver.", body: receiverAnswer },
      refusals,
      handle: async ({ params, body }) => {
        await assertDestination(body.destinationId);
        const change = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
        return view(found(receivers().change(params.id, change), params.id));
      },
    }),
  ];
}

function viewReceiver(value: TestReceiver, url: string): z.input<typeof receiver> {
  const { id, destinationId, status, delayMs, createdAtMs, received } = value;
  return { id, url: `${url}/receive/${id}`, destinationId, status, delayMs, createdAt: isoTime(createdAtMs), received };
}

function viewRequest({ body, receivedAtMs, headers, ...rest }: ReceivedRequest): z.input<typeof request> {
  return { ...rest, headers: { ...headers }, time: isoTime(receivedAtMs), bodyBase64: body.toString("base64") };
}
