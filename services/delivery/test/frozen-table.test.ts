import { randomBytes } from "node:crypto";
import { checkFrozenTable } from "@posthaste/testbed/frozen-table";
import { Registry } from "prom-client";
import { it } from "vitest";
import { startDelivery } from "../src/app.ts";

it("is not ready while its table is not read to its end", () =>
  checkFrozenTable({
    service: "delivery",
    topics: { retryDelaysMs: [60_000] },
    topicOf: (names) => names.destinationConfig,
    start: (options) =>
      startDelivery({
        ...options,
        registry: new Registry(),
        traces: undefined,
        secretKeys: [{ id: "k1", key: randomBytes(32) }],
        addresses: { allowNetworks: [], denyNetworks: [], ports: [] },
        schedule: { delaysMs: [60_000], windowMs: 60_000 },
        attemptLog: { failures: true, deliveredShare: 1 },
        // Longer than an idle reading is silent, and shorter than the limit that a service has.
        table: { behindLimitMs: 4_000 },
      }),
  }));
