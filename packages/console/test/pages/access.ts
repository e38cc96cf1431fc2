import type { TestedPage } from "./tested-page.ts";

const NONE = { data: [], nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true, searchedTo: null };

export const accessPage: TestedPage = {
  ...{ route: "/access", path: "/access", title: "Access · Posthaste", reads: "GET /v1/tokens" },
  empty: { "GET /v1/tokens": { body: NONE } },
  live: {},
  shows: ["dashboard", "may read", "last used"],
};

export const activityPage: TestedPage = {
  ...{ route: "/activity", path: "/activity", title: "Activity · Posthaste", reads: "GET /v1/audit" },
  empty: { "GET /v1/audit": { body: NONE } },
  live: {},
  shows: ["admin", "changed", "Web shop → Shop"],
};
