import { createFreezableTables } from "@posthaste/testbed/freezable-tables";
import { eventually } from "@posthaste/testkit/eventually";
import { Registry } from "prom-client";
import { afterEach, expect, it } from "vitest";
import { startIngest } from "../src/app.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

// With the limit that a service has; the other services wait for less.
it("is not ready while its table is not read to its end", async () => {
  const tables = await createFreezableTables("ingest");
  closing.push(tables.remove);
  const service = await startIngest({
    ...tables.options,
    host: "127.0.0.1",
    port: 0,
    trustedProxies: [],
    perSource: { calls: 1, bytes: 1 },
    maxPendingBytes: 1_000_000,
    registry: new Registry(),
  });
  closing.push(service.stop);
  expect(service.readiness().tables).toBe(true);
  const topic = tables.names.sourceConfig;
  await tables.freeze(topic);
  await eventually(() => expect(service.readiness().tables).toMatch(`${topic} was last read to its end`), {
    timeoutMs: 30_000,
  });
});
