import { createFreezableTables } from "@posthaste/testbed/freezable-tables";
import { eventually } from "@posthaste/testkit/eventually";
import { Registry } from "prom-client";
import { afterEach, expect, it } from "vitest";
import { startRouter } from "../src/app.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it("is not ready while its table is not read to its end", async () => {
  const tables = await createFreezableTables("router");
  closing.push(tables.remove);
  const service = await startRouter({
    ...tables.options,
    dedupe: { limit: 0, windowMs: 0 },
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
