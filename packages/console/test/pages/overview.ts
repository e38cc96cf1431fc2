import { exampleOf } from "../fake-control.ts";
import type { TestedPage } from "./tested-page.ts";

const status = exampleOf("GET /v1/status").body as { readonly needsSomebody: readonly object[] };

const named = (operation: string, name: string) => {
  const { data } = exampleOf(operation).body as { readonly data: readonly object[] };
  return { body: { data: [{ ...data[0], name }], nextCursor: null, asOf: null, complete: true } };
};

export const overviewPage: TestedPage = {
  ...{ route: "/overview", path: "/overview", title: "Overview · Posthaste", reads: "GET /v1/status" },
  empty: {
    "GET /v1/status": {
      body: { ...status, needsSomebody: [], needing: 0, destinations: { open: 0, failing: 0, healthy: 0, off: 0 } },
    },
  },
  live: {
    // It was renamed lately.
    "GET /v1/sources": named("GET /v1/sources", "Shop"),
  },
  shows: ["1 needs you", "paused by failures", "12,031", "Replay to Billing", "changed Shop", "Recently"],
};
