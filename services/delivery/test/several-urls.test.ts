/** Destinations of two URLs on real sockets, of which one hangs or asked for peace. */
import { retryTopicName } from "@posthaste/contracts/topics";
import { eventually } from "@posthaste/testkit/eventually";
import { describe, expect, it } from "vitest";
import { createInstallation, drafts } from "./installation.ts";
import { installation, receiver, useInstallation } from "./use-installation.ts";

const DELAYS_MS = [1000, 10_000];
const SCHEDULE = { delaysMs: DELAYS_MS, windowMs: 60_000 };
const DELIVERIES = 500;

useInstallation(DELAYS_MS);

const connect = (id: string, paths: readonly string[], change = {}) =>
  installation.configure(id, { urls: paths.map((path) => ({ url: receiver.url + path, headers: {} })), ...change });

const idsAt = (path: string) =>
  new Set(receiver.requestsTo(path).flatMap(({ headers }) => headers["x-message-id"] ?? []));

describe("a URL that works", () => {
  it.each(["any", "each"] as const)(
    "I5, I6: gets everything at once beside one of its destination that hangs, settle %s",
    async (settle) => {
      receiver.script("/hangs", { fault: "hang" });
      const configOffset = await connect("two", ["/works", "/hangs"], { settle });
      const other = await connect("other", ["/other"]);
      await installation.send([...drafts("two", DELIVERIES, configOffset), ...drafts("other", 1, other)]);
      // No hanging request times out while the test runs: the working URL does not wait for that either.
      const delivery = await installation.startDelivery({
        schedule: { delaysMs: [10_000], windowMs: 60_000 },
        senderLimits: { headersTimeoutMs: 600_000 },
      });
      await eventually(() => expect(idsAt("/works").size).toBe(DELIVERIES), { timeoutMs: 180_000 });
      expect(receiver.requestsTo("/works")).toHaveLength(DELIVERIES);
      // It is called as often as a URL that nothing is known of may be, and no more.
      expect(receiver.requestsTo("/hangs").length).toBeLessThanOrEqual(10);
      const owed = installation.waiting.filter(
        ({ urls }) => urls === null || urls.some((url) => url.endsWith("/works")),
      );
      expect(owed).toEqual([]);
      expect(delivery.failures).toEqual([]);
    },
    240_000,
  );

  it("W5: under `settle: each` is called while another one's Retry-After runs", async () => {
    receiver.script("/busy", { status: 429, headers: { "retry-after": "3600" } });
    const configOffset = await connect("two", ["/works", "/busy"], { settle: "each" });
    await installation.send(drafts("two", 1, configOffset));
    // A delivery that would wait longer than the first delay is deferred: longer than a busy machine takes.
    const delivery = await installation.startDelivery({ schedule: { delaysMs: [10_000], windowMs: 60_000 } });
    await eventually(() => expect(receiver.requestsTo("/busy")).toHaveLength(1));
    await installation.send(
      drafts("two", 20, configOffset).map((draft) => ({ ...draft, messageId: `${draft.messageId}b` })),
    );
    await eventually(() => expect(idsAt("/works").size).toBe(21));
    expect(receiver.requestsTo("/busy")).toHaveLength(1);
    await eventually(async () =>
      expect(await delivery.metric('posthaste_deferred_total{cause="retry_after"}')).toBeGreaterThanOrEqual(20),
    );
    for (const { urls } of installation.waiting) expect(urls).toEqual([`${receiver.url}/busy`]);
  });

  it("W5: under `settle: any` is called again at the usual time, and the one that asked for peace is not", async () => {
    receiver.script("/busy", { status: 429, headers: { "retry-after": "3600" } });
    receiver.script("/breaks", { status: 503 });
    const configOffset = await connect("two", ["/breaks", "/busy"]);
    await installation.send(drafts("two", 1, configOffset));
    const first = await installation.startDelivery({ schedule: SCHEDULE });
    await eventually(() => expect(installation.waiting.length).toBeGreaterThan(0));
    await first.stop();
    await installation.startDelivery({ schedule: SCHEDULE });
    await eventually(() => expect(receiver.requestsTo("/breaks").length).toBeGreaterThanOrEqual(2));
    expect(receiver.requestsTo("/busy")).toHaveLength(1);
  });
});

describe("last attempts", () => {
  it("I1, I3: keep to the destination's rate", async () => {
    const quick = await createInstallation([1000]);
    const rated = { rateLimitPerSecond: 20, urls: [{ url: `${receiver.url}/rated`, headers: {} }] };
    const configOffset = await quick.configure("rated", rated);
    await quick.configure("other", {});
    const long = Date.now() - 3_600_000;
    // All of them were deferred until the end of their window, and never attempted.
    const headers = { deferrals: "9", "window-start-ms": String(long), "deadline-ms": String(long + 60_000) };
    const topic = retryTopicName(quick.names, 1000);
    for (const draft of drafts("rated", 100, configOffset)) await quick.sendRaw(topic, quick.encode(draft), headers);
    await quick.startDelivery({ schedule: { delaysMs: [1000], windowMs: 60_000 } });
    await eventually(() => expect(idsAt("/rated").size).toBe(100));
    const moments = receiver.requestsTo("/rated").map(({ receivedAtMs }) => receivedAtMs);
    expect(moments).toHaveLength(100);
    expect((moments.at(-1) ?? 0) - (moments[0] ?? 0)).toBeGreaterThanOrEqual(4500);
    await quick.remove();
  });
});
