import { exampleOf, problem } from "../fake-control.ts";
import type { TestedPage } from "./tested-page.ts";

const NONE = { data: [], nextCursor: null, asOf: "2026-11-22T14:12:10.000Z", complete: true };

const DELETION = Object.assign({}, exampleOf("GET /v1/deletions/{id}").body, { id: "ticket-4711" }) as {
  readonly id: string;
  readonly sourceIds: readonly string[];
};
const [source] = (exampleOf("GET /v1/sources").body as { readonly data: readonly object[] }).data;
/** Of its sources, in their order. */
const NAMES = [
  ...["Web shop", "Android app", "iOS app", "Warehouse scanner", "Help centre", "Blog"],
  ...["Careers", "Partner portal", "Kiosk", "Newsletter", "Loyalty cards", "Call centre"],
];

export const deletionsPage: TestedPage = {
  ...{ route: "/deletions", path: "/deletions", title: "Deletions · Posthaste", reads: "GET /v1/deletions" },
  empty: { "GET /v1/deletions": { body: NONE } },
  live: {},
  shows: ["ticket-4711", "8: 8 sent", "Is a user suppressed?"],
};

export const deletionPage: TestedPage = {
  ...{ route: "/deletions/$deletionId", path: "/deletions/ticket-4711", title: "Deletion ticket-4711 · Posthaste" },
  reads: "GET /v1/deletions/{id}",
  empty: { "GET /v1/deletions/{id}": problem(404, "there is no deletion request ticket-4711") },
  live: {
    "GET /v1/deletions/{id}": { body: DELETION },
    "GET /v1/sources": {
      body: { ...NONE, data: DELETION.sourceIds.map((id, n) => ({ ...source, id, name: NAMES[n] ?? id })) },
    },
  },
  shows: ["1 user of 12 sources", "Nobody was suppressed", "user-7", "nobody is told: it had no destination"],
};
