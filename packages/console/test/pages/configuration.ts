import { problem } from "../fake-control.ts";
import type { TestedPage } from "./tested-page.ts";

const NONE = { data: [], nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true };

export const sourcesPage: TestedPage = {
  ...{ route: "/sources", path: "/sources", title: "Sources · Posthaste", reads: "GET /v1/sources" },
  empty: { "GET /v1/sources": { body: NONE } },
  live: {},
  shows: ["Web shop", "key qf4y…"],
};

export const sourcePage: TestedPage = {
  ...{ route: "/sources/$sourceId", path: "/sources/src_4k2v8m1n0p3q5r7s", title: "Web shop · Posthaste" },
  reads: "GET /v1/sources/{id}",
  empty: { "GET /v1/sources/{id}": problem(404, "there is no source src_4k2v8m1n0p3q5r7s") },
  live: {},
  shows: ["7zve1z2r23axm4r4ht9h51em3sxdz3sg", "Its deliveries"],
};

export const destinationsPage: TestedPage = {
  ...{
    route: "/destinations",
    path: "/destinations",
    title: "Destinations · Posthaste",
    reads: "GET /v1/destinations",
  },
  empty: { "GET /v1/destinations": { body: NONE } },
  live: {},
  shows: ["Billing", "https://billing.example/hook"],
};

export const destinationPage: TestedPage = {
  ...{ route: "/destinations/$destinationId", path: "/destinations/dst_4k2v8m1n0p3q5r7s" },
  ...{ title: "Billing · Posthaste", reads: "GET /v1/destinations/{id}" },
  empty: { "GET /v1/destinations/{id}": problem(404, "there is no destination dst_4k2v8m1n0p3q5r7s") },
  live: {},
  shows: ["URL 1", "A delivery is settled", "Web shop"],
};
