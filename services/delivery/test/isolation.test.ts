/** Rules: V2 and V3 of destination-check.ts. */
import { eventually } from "@posthaste/testkit/eventually";
import { describe, expect, it } from "vitest";
import { createInstallation, drafts } from "./installation.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const DELAYS_MS = [1000, 2000];
/** Longer than any of it takes. */
const LONG_MS = 600_000;
const PATIENCE_MS = 180_000;

useInstallation(DELAYS_MS);

const connect = (id: string, change = {}) =>
  installation.configure(id, { urls: [{ url: `${receiver.url}/${id}`, headers: {} }], ...change });

describe("a healthy destination", () => {
  it.each([
    ["hangs", { fault: "hang" } as const],
    ["answers 503", { status: 503 }],
    ["resets every connection", { fault: "reset" } as const],
  ])(
    "I1: gets everything while another one %s, though that one's deliveries fill every window",
    async (_, bad) => {
      // A delivery that would wait longer than the first retry's delay is deferred: longer than a busy machine takes
      // for all of it.
      const longer = await createInstallation([LONG_MS]);
      receiver.script("/bad", bad);
      await longer.configure("bad", { urls: [{ url: `${receiver.url}/bad`, headers: {} }] });
      const configOffset = await longer.configure("good", { urls: [{ url: `${receiver.url}/good`, headers: {} }] });
      // More of the bad than both partitions' windows hold stand before the good.
      await longer.send(drafts("bad", 600, configOffset));
      await longer.send(drafts("good", 300, configOffset));
      const delivery = await longer.startDelivery({
        windowRecords: 100,
        schedule: { delaysMs: [LONG_MS], windowMs: 2 * LONG_MS },
        // A hanging request ends of itself no sooner than the wait below.
        senderLimits: { headersTimeoutMs: LONG_MS },
      });
      await eventually(() => expect(receiver.requestsTo("/good")).toHaveLength(300), { timeoutMs: PATIENCE_MS });
      expect(longer.waiting.some(({ messageId }) => messageId.startsWith("good"))).toBe(false);
      expect(longer.deadLetters).toEqual([]);
      expect(delivery.failures).toEqual([]);
      await longer.remove();
    },
    240_000,
  );

  it("I1: alone is never deferred: its partition waits", async () => {
    receiver.script("/slow", { delayMs: 30 });
    const configOffset = await connect("slow");
    await installation.send(drafts("slow", 400, configOffset));
    await installation.startDelivery({ windowRecords: 50 });
    await eventually(() => expect(receiver.requestsTo("/slow")).toHaveLength(400));
    expect(installation.waiting).toEqual([]);
  });

  it("gets at most its rate, where one was asked for", async () => {
    const configOffset = await connect("rated", { rateLimitPerSecond: 20 });
    await installation.send(drafts("rated", 30, configOffset));
    await installation.startDelivery();
    await eventually(() => expect(receiver.requestsTo("/rated")).toHaveLength(30));
    const moments = receiver.requestsTo("/rated").map(({ receivedAtMs }) => receivedAtMs);
    const spanMs = (moments.at(-1) ?? 0) - (moments[0] ?? 0);
    // Two may go at once, and where the process stood still before it read those, two more.
    expect(spanMs).toBeGreaterThanOrEqual(1200);
  });
});

describe("a receiver that is slow and well", () => {
  it.each([
    ["an idle destination", 1],
    ["a busy one", 400],
  ])("I1: is served beside %s as it is alone: nothing of it is deferred", async (_, others) => {
    const longer = await createInstallation([30_000]);
    const slow = { urls: [{ url: `${receiver.url}/slow`, headers: {} }] };
    const other = { urls: [{ url: `${receiver.url}/other`, headers: {} }] };
    receiver.script("/slow", { delayMs: 500 });
    await longer.configure("slow", slow);
    const configOffset = await longer.configure("other", other);
    await longer.send([...drafts("other", others, configOffset), ...drafts("slow", 200, configOffset)]);
    await longer.startDelivery({ schedule: { delaysMs: [30_000], windowMs: LONG_MS } });
    await eventually(() => expect(receiver.requestsTo("/slow")).toHaveLength(200), { timeoutMs: 60_000 });
    expect(longer.waiting).toEqual([]);
    await longer.remove();
  });
});

describe("a destination that is changed", () => {
  it("V3: gets what waited for admission at its new URL", async () => {
    // The change takes the rate away too; before it all would take twenty seconds.
    const configOffset = await connect("moved", { rateLimitPerSecond: 2 });
    await installation.send(drafts("moved", 40, configOffset));
    await installation.startDelivery();
    await eventually(() => expect(receiver.requestsTo("/moved").length).toBeGreaterThan(2));
    await installation.configure("moved", { urls: [{ url: `${receiver.url}/new`, headers: {} }] });
    await eventually(() => expect(receiver.requests).toHaveLength(40));
    expect(receiver.requestsTo("/new").length).toBeGreaterThan(10);
  });

  it("is tried again at once, whatever stood against it before", async () => {
    receiver.script("/broken", { status: 503, headers: { "retry-after": "3600" } });
    const before = await connect("broken");
    await installation.send(drafts("broken", 1, before));
    const delivery = await installation.startDelivery();
    await eventually(() => expect(installation.waiting.length).toBeGreaterThan(0));
    const configOffset = await installation.configure("broken", {
      urls: [{ url: `${receiver.url}/mended`, headers: {} }],
    });
    await installation.send([{ messageId: "m-mended", destinationId: "broken", configOffset }]);
    await eventually(() => expect(receiver.requestsTo("/mended")).toHaveLength(1));
    expect(delivery.failures).toEqual([]);
  });
});

describe("a dead destination", () => {
  it("is spared most requests, and each delivery is tried once at least before it is given up (I3)", async () => {
    receiver.script("/dead", { status: 500 });
    const configOffset = await connect("dead");
    await connect("other");
    await installation.send([...drafts("dead", 150, configOffset), ...drafts("other", 1, configOffset)]);
    const delivery = await installation.startDelivery({ schedule: { delaysMs: DELAYS_MS, windowMs: 5000 } });
    await eventually(() => expect(installation.deadLetters).toHaveLength(150), { timeoutMs: 60_000 });
    expect(installation.deadLetters.every(({ reason, attempts }) => reason === "window_expired" && attempts >= 1)).toBe(
      true,
    );
    expect(await delivery.metric('posthaste_deferred_total{cause="breaker_open"}')).toBeGreaterThan(100);
    // Without the breaker it would be three attempts of each.
    expect(receiver.requestsTo("/dead").length).toBeLessThan(300);
  });

  it("gets what waited for it once it lives again", async () => {
    let alive = false;
    receiver.script("/sick", () => (alive ? {} : { status: 503 }));
    const configOffset = await connect("sick");
    await installation.send(drafts("sick", 100, configOffset));
    const delivery = await installation.startDelivery();
    await eventually(async () => expect(await delivery.metric('posthaste_breaker_state{state="open"}')).toBe(1));
    alive = true;
    await eventually(() => {
      const served = new Set(receiver.requestsTo("/sick").flatMap(({ headers }) => headers["x-message-id"] ?? []));
      expect(served.size).toBe(100);
    });
    await eventually(async () => expect(await delivery.metric('posthaste_breaker_state{state="closed"}')).toBe(1));
  });
});

describe("a destination whose secrets cannot be opened", () => {
  it("V2: gets nothing, and nothing of it is given up: it is held until the key is there", async () => {
    const foreign = { id: "k2", key: Buffer.alloc(32, 7) };
    const configOffset = await installation.configure(
      "sealed",
      { urls: [{ url: `${receiver.url}/sealed`, headers: {} }] },
      foreign,
    );
    await installation.send(drafts("sealed", 3, configOffset));
    const schedule = { delaysMs: DELAYS_MS, windowMs: 1500 };
    const without = await installation.startDelivery({ schedule });
    await eventually(() => expect(installation.waiting.length).toBeGreaterThanOrEqual(6));
    expect(await without.metric('posthaste_deferred_total{cause="unknown_key"}')).toBeGreaterThanOrEqual(6);
    expect(installation.deadLetters).toEqual([]);
    expect(receiver.requests).toEqual([]);
    await without.stop();
    await installation.startDelivery({ schedule, secretKeys: [installation.secretKey, foreign] });
    await eventually(() => expect(receiver.requestsTo("/sealed")).toHaveLength(3));
  });
});
