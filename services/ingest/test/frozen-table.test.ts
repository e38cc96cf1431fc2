import { checkFrozenTable } from "@posthaste/testbed/frozen-table";
import { Registry } from "prom-client";
import { it } from "vitest";
import { startIngest } from "../src/app.ts";

it("is not ready while its table is not read to its end", () =>
  checkFrozenTable({
    service: "ingest",
    topicOf: (names) => names.sourceConfig,
    start: (options) =>
      startIngest({
        ...options,
        registry: new Registry(),
        traces: undefined,
        host: "127.0.0.1",
        port: 0,
        trustedProxies: [],
        perSource: { calls: 1, bytes: 1 },
        maxPendingBytes: 1_000_000,
        // Longer than an idle reading is silent, and shorter than the limit that a service has.
        table: { behindLimitMs: 4_000 },
      }),
  }));
