import type { EventVerdict } from "../../src/api/api-types.ts";
import { exampleOf } from "../fake-control.ts";
import type { Said, TestedPage } from "./tested-page.ts";

const destinationId = "dst_4k2v8m1n0p3q5r7s";
const WAREHOUSE = "dst_7s5r3q0p1n8m4k2v";

/** An event that one destination gave up and another took. */
export const GIVEN_UP: Said<EventVerdict> = {
  messageId: "message-7",
  cause: "dead_letter",
  sentence: 'Not delivered: "Billing" answered 503 until its retry window ended.',
  command: "posthaste dead-letters replay --message-ids message-7",
  deletion: null,
  events: [
    {
      ...{ sourceId: "src_4k2v8m1n0p3q5r7s", origin: { partition: 0, offset: 17 }, type: "track" },
      ...{ event: "Order Completed", userKey: "user-7", receivedAt: "2026-11-22T10:12:07.113Z" },
      ...{ cause: "dead_letter", deletion: null },
      sentence: 'Not delivered: "Billing" answered 503 until its retry window ended.',
      command: "posthaste dead-letters replay --message-ids message-7",
      destinations: [
        {
          ...{ destinationId, cause: "dead_letter", due: null, deadline: null, tries: 9, place: "0:4" },
          sentence: '"Billing" answered 503 nine times.',
          command: null,
        },
        {
          ...{ destinationId: WAREHOUSE, cause: "delivered", due: null, deadline: null, tries: 1 },
          ...{ place: null, sentence: '"Warehouse" took it.', command: null },
        },
      ],
      ...{ sentByHand: [], delivered: null },
      timeline: [
        {
          ...{ time: "2026-11-22T10:12:07.113Z", what: "received", destinationId: null },
          ...{ detail: "the call was accepted", note: null },
        },
        {
          ...{ time: "2026-11-22T10:12:07.116Z", what: "routed", destinationId },
          ...{ detail: "to be sent", note: "by the configuration up to 41" },
        },
        {
          ...{ time: "2026-11-22T10:12:07.154Z", what: "attempt", destinationId },
          ...{ detail: "try 1: 503 from https://a.example/hook, to be tried again", note: "retryable" },
        },
        {
          ...{ time: "2026-11-22T14:12:09.004Z", what: "dead_letter", destinationId },
          ...{ detail: "no URL took it until the end of its retry window", note: "window_expired" },
        },
      ],
    },
  ],
  nextCursor: null,
  asOf: "2026-11-22T14:12:10.000Z",
  complete: true,
};

/** The names of both of its destinations. */
const { data: listed } = exampleOf("GET /v1/destinations").body as { readonly data: readonly object[] };
const NAMED = {
  "GET /v1/destinations": {
    body: {
      ...{ nextCursor: null, asOf: null, complete: true },
      data: [...listed, { ...listed[0], id: WAREHOUSE, name: "Warehouse" }],
    },
  },
};

const NONE = { data: [], nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true, searchedTo: null };

export const eventsPage: TestedPage = {
  ...{ route: "/events", path: "/events?userId=user-7", title: "Events · Posthaste", reads: "GET /v1/events" },
  empty: { "GET /v1/events": { body: NONE } },
  live: {},
  shows: ["Order Completed track", "user-7", 'Delivered to "Billing" at', "posthaste events find --user-id user-7"],
};

export const eventPage: TestedPage = {
  route: "/events/$messageId",
  path: "/events/message-7",
  title: "Order Completed · user-7 · Posthaste",
  reads: "GET /v1/events/{messageId}",
  empty: {
    "GET /v1/events/{messageId}": { body: exampleOf("GET /v1/events/{messageId}").body },
  },
  live: { ...NAMED, "GET /v1/events/{messageId}": { body: GIVEN_UP } },
  shows: ["Failed", '"Billing" answered 503 until', "Send again", "Order Completed", "attempt 1: rejected"],
};
