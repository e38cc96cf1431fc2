/** S6 stands in config-store.ts. */
import { canaryIdsOf } from "@posthaste/contracts/canary-ids";
import type { DestinationRecord } from "@posthaste/contracts/destination-codec";
import type { SourceRecord } from "@posthaste/contracts/source-codec";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestControl, type TestControl } from "./control.ts";
import { control, topics, useControl } from "./use-control.ts";

useControl();

const sources = new Map<string, SourceRecord | null>();
const destinations = new Map<string, DestinationRecord | null>();
let canary: TestControl;
let ids: ReturnType<typeof canaryIdsOf>;

beforeAll(async () => {
  await topics.followTable<SourceRecord>(topics.names.sourceConfig, (key, value) => sources.set(key, value));
  await topics.followTable<DestinationRecord>(topics.names.destinationConfig, (key, value) =>
    destinations.set(key, value),
  );
  canary = await startTestControl(topics, { env: { POSTHASTE_CANARY: "true" } });
  ids = canaryIdsOf(canary.url);
  await eventually(() => expect(sources.get(ids.sourceId)).toMatchObject({ name: "Canary" }));
});

afterAll(() => canary.stop());

describe("the canary of a process", () => {
  it("has its own address as its destination's", () => {
    expect(destinations.get(ids.destinationId)).toMatchObject({
      ...{ sourceIds: [ids.sourceId], enabled: true },
      urls: [{ url: `${canary.url}/canary` }],
    });
  });

  it("is in no list of any process, and nobody reads, changes or removes its source and destination (S6)", async () => {
    const { body: made } = await control.call("POST", "/v1/sources", { name: "shown", kind: "web" });
    for (const each of [canary, control]) {
      await eventually(async () => {
        const { text } = await each.call("GET", "/v1/sources");
        expect(text).toContain(made.id);
        expect(text).not.toContain("_canary_");
      });
      for (const path of ["/v1/destinations", "/v1/health", "/v1/audit"]) {
        expect((await each.call("GET", path)).text, path).not.toContain("_canary_");
      }
      for (const path of [`/v1/sources/${ids.sourceId}`, `/v1/destinations/${ids.destinationId}`]) {
        expect((await each.call("GET", path)).status, path).toBe(404);
        expect((await each.call("PATCH", path, { enabled: false })).status, path).toBe(404);
        expect((await each.call("DELETE", path)).status, path).toBe(404);
      }
    }
    const toIts = {
      type: "Webhooks",
      name: "spy",
      sourceIds: [ids.sourceId],
      settings: { urls: [{ url: "https://spy.example/" }] },
    };
    const spying = await control.call("POST", "/v1/destinations", toIts);
    expect([spying.status, spying.text]).toEqual([400, expect.stringContaining(ids.sourceId)]);
    expect([sources.get(ids.sourceId)?.enabled, destinations.get(ids.destinationId)?.enabled]).toEqual([true, true]);
  });

  it("has a door that takes nothing of a stranger, where it is on alone", async () => {
    const post = async (url: string) => (await fetch(`${url}/canary`, { method: "POST", body: "{}" })).status;
    const json = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
    expect(await post(canary.url)).toBe(415);
    expect((await fetch(`${canary.url}/canary`, json)).status).toBe(401);
    const off = await control.call("POST", "/canary", {});
    expect([off.status, off.text]).toEqual([404, expect.stringContaining("there is no POST /canary")]);
  });
});
