import { exampleOf } from "../fake-control.ts";
import type { TestedPage } from "./tested-page.ts";

const NONE = { data: [], nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true, searchedTo: null };

export const deliveriesPage: TestedPage = {
  ...{ route: "/deliveries", path: "/deliveries", title: "Deliveries · Posthaste" },
  reads: "GET /v1/deliveries/latest",
  empty: { "GET /v1/deliveries/latest": { body: NONE } },
  live: { "GET /v1/deliveries/latest": { body: exampleOf("GET /v1/deliveries/latest").body } },
  shows: ["Order Completed", "user-7", "failed", "3 attempts", "message-1"],
};

export const deadLettersPage: TestedPage = {
  ...{ route: "/dead-letters", path: "/dead-letters", title: "Dead letters · Posthaste" },
  reads: "GET /v1/dead-letters/groups",
  empty: { "GET /v1/dead-letters/groups": { body: NONE } },
  live: {},
  shows: ["window expired", "503", "receiver: the receiver did not take it before its retries ended"],
};

export const deadLettersListPage: TestedPage = {
  ...{ route: "/dead-letters/letters", path: "/dead-letters/letters?reason=window_expired&error=503" },
  ...{ title: "Dead letters · Posthaste", reads: "GET /v1/dead-letters" },
  empty: { "GET /v1/dead-letters": { body: { ...NONE, leftOut: { suppressed: 0, purged: 0 } } } },
  live: {},
  shows: [
    "Order Completed",
    "message-1",
    "window expired",
    "posthaste dead-letters list --reason window_expired --error 503",
  ],
};
