import { exampleOf, problem } from "../fake-control.ts";
import type { TestedPage } from "./tested-page.ts";

const NONE = { data: [], nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true };

interface Listed {
  readonly data: readonly { readonly id: string }[];
}

const [listed] = (exampleOf("GET /v1/destinations").body as Listed).data;
const [found] = (exampleOf("GET /v1/events").body as { readonly data: readonly object[] }).data;

export const sourcesPage: TestedPage = {
  ...{ route: "/sources", path: "/sources", title: "Sources · Posthaste", reads: "GET /v1/sources" },
  empty: { "GET /v1/sources": { body: NONE } },
  live: {},
  shows: ["Web shop", "qf4y…", "Write key"],
};

export const sourcePage: TestedPage = {
  ...{ route: "/sources/$sourceId", path: "/sources/src_4k2v8m1n0p3q5r7s", title: "Web shop · Posthaste" },
  reads: "GET /v1/sources/{id}",
  empty: { "GET /v1/sources/{id}": problem(404, "there is no source src_4k2v8m1n0p3q5r7s") },
  live: { "GET /v1/events": { body: { ...NONE, data: [{ ...found, destinationIds: [listed?.id] }] } } },
  shows: [
    "7zve…g",
    "Its deliveries",
    "4,120",
    "now 1.2/s; not accepted",
    "rejected: missing_user × 41",
    "user-7",
    "→ Billing",
  ],
};

/** The health of the examples, of the destination that the examples list. */
const HEALTH_OF_LISTED = {
  ...NONE,
  data: [Object.assign({}, exampleOf("GET /v1/health/destinations/{id}").body, { destinationId: listed?.id })],
};

export const destinationsPage: TestedPage = {
  ...{
    route: "/destinations",
    path: "/destinations",
    title: "Destinations · Posthaste",
    reads: "GET /v1/destinations",
  },
  empty: { "GET /v1/destinations": { body: NONE } },
  live: { "GET /v1/health/destinations": { body: HEALTH_OF_LISTED } },
  shows: ["Billing", "billing.example/hook", "paused by failures", "94.4 %", "62.7 ms"],
};

export const destinationPage: TestedPage = {
  ...{ route: "/destinations/$destinationId", path: "/destinations/dst_4k2v8m1n0p3q5r7s" },
  ...{ title: "Billing · Posthaste", reads: "GET /v1/destinations/{id}" },
  empty: { "GET /v1/destinations/{id}": problem(404, "there is no destination dst_4k2v8m1n0p3q5r7s") },
  live: {},
  shows: [
    ...["paused by failures", "Replay 12…", "Waiting: 3", "Attempts", "gives up"],
    ...["timeouts 10.7 % of 5 m", "503 × 25, timeout × 3 in 1 h"],
  ],
};
