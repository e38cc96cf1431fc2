/** Rules: UN1 of unreadable-records.ts, AW2 and AW3 of awaited-schemas.ts. */
import type { Event } from "@posthaste/core/event/event";
import { openPoisonRecords, type PoisonRecords } from "@posthaste/testbed/poison-records";
import { testEvent } from "@posthaste/testbed/test-event";
import { eventually } from "@posthaste/testkit/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInstallation, type Installation, type TestRouter } from "./installation.ts";

/** Longer than a test takes on any machine. */
const PATIENT = { unknownSchemaMs: 3_600_000 };
const IMPATIENT = { unknownSchemaMs: 200 };
const NEVER_KNOWN = 6;

let installation: Installation;
let poison: PoisonRecords;
let router: TestRouter;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.configure("dst", {});
  poison = await openPoisonRecords(installation);
  router = await start(PATIENT);
});

const start = (timing: { readonly unknownSchemaMs: number }) =>
  installation.startRouter({ timing, schemaRegistry: { url: poison.registryUrl } });

afterAll(async () => {
  await installation.remove();
  await poison.close();
});

const isDelivered = (messageId: string) =>
  eventually(() => expect(installation.deliveries.map((each) => each.messageId)).toContain(messageId));

describe("a record of the events that nobody can read", () => {
  it("UN1: is quarantined as it was, with its place and why, and the next event is routed", async () => {
    const headers = { note: "mine", odd: Buffer.from([0xff, 0xfe]) };
    await installation.sendRaw(poison.rubbish, { key: "src_1:poison", partition: 0, headers });
    await installation.sendRaw(installation.strayValue, { key: null, partition: 0 });
    await installation.send([testEvent("after-rubbish")]);
    await isDelivered("after-rubbish");
    await eventually(() => expect(installation.unreadable).toHaveLength(2));
    const [rubbish, stray] = installation.unreadable;
    expect(rubbish?.value.equals(poison.rubbish)).toBe(true);
    expect([String(rubbish?.record.key), String(rubbish?.record.headers["note"])]).toEqual(["src_1:poison", "mine"]);
    expect(rubbish?.record.headers["odd"]).toEqual(headers.odd);
    const place = { topic: installation.names.events, partition: 0, by: "router", isValueOmitted: false };
    expect(rubbish?.unreadable).toMatchObject({ ...place, offset: 0, reason: "not_framed" });
    expect(stray?.unreadable).toMatchObject({ ...place, offset: 1, reason: "not_of_schema" });
    expect(stray?.value.equals(installation.strayValue)).toBe(true);
    expect(router.failures).toEqual([]);
  });

  it("AW2: is waited for where the registry knows its schema later, and routed in its order", async () => {
    const event: Event = testEvent("later", { userId: "in-order" });
    const value = await poison.knownLater("event", event);
    await installation.sendRaw(value, { key: "src_1:in-order", partition: 1 });
    await installation.sendRaw(installation.encode(testEvent("behind-later", { userId: "in-order" })), {
      ...{ key: "src_1:in-order", partition: 1 },
    });
    await eventually(() => expect(poison.asked()).toBeGreaterThan(2));
    expect(installation.deliveries.map(({ messageId }) => messageId)).not.toContain("later");
    poison.reveal();
    await isDelivered("behind-later");
    const ids = installation.deliveries.map(({ messageId }) => messageId);
    expect(ids.indexOf("later")).toBeLessThan(ids.indexOf("behind-later"));
    expect(ids).toContain("later");
  });

  it("AW2, AW3: is given up after the setting, with all behind it that lack a schema", async () => {
    const before = installation.unreadable.length;
    const asked = poison.schemasAsked();
    for (let count = 0; count < NEVER_KNOWN; count += 1) {
      await installation.sendRaw(poison.neverKnown(), { partition: 0 });
    }
    await installation.sendRaw(installation.encode(testEvent("behind-never")), { partition: 0 });
    // The other partition goes on meanwhile.
    await installation.sendRaw(installation.encode(testEvent("beside-never")), { partition: 1 });
    await isDelivered("beside-never");
    expect(installation.deliveries.map(({ messageId }) => messageId)).not.toContain("behind-never");
    // Many schemas, one wait: the first is not given up yet.
    await eventually(() => expect(poison.schemasAsked()).toBe(asked + NEVER_KNOWN));
    expect(installation.unreadable).toHaveLength(before);
    expect(router.failures).toEqual([]);
    await router.stop();
    router = await start(IMPATIENT);
    await isDelivered("behind-never");
    await eventually(() => expect(installation.unreadable).toHaveLength(before + NEVER_KNOWN));
    expect(installation.unreadable.slice(before).map(({ unreadable }) => unreadable?.reason)).toEqual(
      Array(NEVER_KNOWN).fill("unknown_schema"),
    );
    expect(router.failures).toEqual([]);
  });
});
