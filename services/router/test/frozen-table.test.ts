import { checkFrozenTable } from "@posthaste/testbed/frozen-table";
import { Registry } from "prom-client";
import { it } from "vitest";
import { startRouter } from "../src/app.ts";

it("is not ready while its table is not read to its end", () =>
  checkFrozenTable({
    service: "router",
    topicOf: (names) => names.destinationConfig,
    start: (options) =>
      startRouter({
        ...options,
        registry: new Registry(),
        traces: undefined,
        dedupe: { limit: 0, windowMs: 0 },
        // Longer than an idle reading is silent, and shorter than the limit that a service has.
        table: { behindLimitMs: 4_000 },
      }),
  }));
