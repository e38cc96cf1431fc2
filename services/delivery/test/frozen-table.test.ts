import { randomBytes } from "node:crypto";
import { createFreezableTables } from "@posthaste/testbed/freezable-tables";
import { eventually } from "@posthaste/testkit/eventually";
import { Registry } from "prom-client";
import { afterEach, expect, it } from "vitest";
import { startDelivery } from "../src/app.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it("is not ready while its table is not read to its end", async () => {
  const tables = await createFreezableTables("delivery", { retryDelaysMs: [60_000] });
  closing.push(tables.remove);
  const service = await startDelivery({
    ...tables.options,
    secretKeys: [{ id: "k1", key: randomBytes(32) }],
    addresses: { allowNetworks: [], denyNetworks: [], ports: [] },
    schedule: { delaysMs: [60_000], windowMs: 60_000 },
    attemptLog: { failures: true, deliveredShare: 1 },
    // Longer than an idle reading is silent, and shorter than the limit that a service has.
    table: { behindLimitMs: 4_000 },
    registry: new Registry(),
  });
  closing.push(service.stop);
  expect(service.readiness().tables).toBe(true);
  const topic = tables.names.destinationConfig;
  await tables.freeze(topic);
  await eventually(() => expect(service.readiness().tables).toMatch(`${topic} was last read to its end`), {
    timeoutMs: 30_000,
  });
});
