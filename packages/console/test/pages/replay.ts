import { exampleOf, problem } from "../fake-control.ts";
import type { TestedPage } from "./tested-page.ts";

const PLAN = exampleOf("POST /v1/replays");

/** The destination of the examples by its name. */
export const NAMED = {
  "GET /v1/destinations": {
    body: {
      data: [Object.assign({}, exampleOf("GET /v1/destinations/{id}").body, { id: "dst_4k2v8m1n0p3q5r7s" })],
      nextCursor: null,
      ...{ asOf: "2026-11-22T14:12:10.000Z", complete: true },
    },
  },
};

export const reviewPage: TestedPage = {
  ...{ route: "/replay", path: "/replay?destinationId=dst_4k2v8m1n0p3q5r7s&reason=window_expired" },
  ...{ title: "Replay · Posthaste", reads: "POST /v1/replays" },
  empty: { "POST /v1/replays": { body: Object.assign({}, PLAN.body, { matched: 0, plan: null }) } },
  live: NAMED,
  shows: [
    "dead letters to Billing",
    "Left out: 41 delivered since, 2 stopped by a deletion request.",
    "What fits died at",
    "12,102",
    "about 2 m 4 s",
    "12,345 are sent; failures after",
  ],
};

export const replayPage: TestedPage = {
  ...{ route: "/replays/$replayId", path: "/replays/rpl_4k2v8m1n0p3q5r7s", title: "Replay to Billing · Posthaste" },
  reads: "GET /v1/replays/{id}",
  empty: { "GET /v1/replays/{id}": problem(404, "there is no replay rpl_4k2v8m1n0p3q5r7s") },
  live: NAMED,
  shows: ["7,812", "of 12,345 sent", "7,790", "100/s at the most", "end fixed at"],
};
