import { exampleOf } from "../fake-control.ts";
import type { TestedPage } from "./tested-page.ts";

const status = exampleOf("GET /v1/status").body as { readonly needsSomebody: readonly object[] };

export const overviewPage: TestedPage = {
  ...{ route: "/overview", path: "/overview", title: "Overview · Posthaste", reads: "GET /v1/status" },
  empty: {
    "GET /v1/status": {
      body: { ...status, needsSomebody: [], destinations: { open: 0, failing: 0, healthy: 0, off: 0 } },
    },
  },
  live: {},
  shows: ["1 needs you", "breaker open", "12,031", "Replays", "changed", "Recently"],
};
