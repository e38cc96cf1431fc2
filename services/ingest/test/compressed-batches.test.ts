/** Compressed batches: the counted cost of hostile ones, and acceptance of every batch of real clients. */
import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MAX_REQUEST_BYTES } from "../src/limits.ts";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway({ maxPendingBytes: 1_000_000_000 });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await gateway.close();
});

const CALL = { type: "track", userId: "u", event: "E" };
const post = (body: string) => gateway.post("/v1/batch", gzipSync(body, { level: 9 }), { "content-encoding": "gzip" });
const times = (count: number, make: (n: number) => object) => Array.from({ length: count }, (_, n) => make(n));

describe("a compressed batch", () => {
  it("of equal calls that are refused is refused before all of them are looked at", async () => {
    // Each call is dear to parse, to refuse and to write again.
    const userId = times(5, () => ({ __proto__: {} }));
    const far = Object.fromEntries(times(10, () => ({})).map((_, n) => [(n + 1) * 131_072, 0]));
    const calls = times(200, () => ({ ...CALL, userId, messageId: far }));
    const body = JSON.stringify({ batch: calls });
    const spy = vi.spyOn(JSON, "stringify");
    const refused = await post(body);
    const written = spy.mock.calls.filter(([value]) => Object.hasOwn(Object(value), "messageId")).length;
    expect(await refused.json()).toMatchObject({ code: "request_too_large" });
    expect(written).toBeLessThan(100);
    expect(gateway.rejected()).toEqual([]);
    // As it came it is refused call by call.
    const plain = await gateway.post("/v1/batch", body);
    expect(await plain.json()).toMatchObject({ rejected: { length: 200 } });
    const small = await gateway.post("/v1/batch", `{"batch":[${"0,".repeat(499)}0]}`);
    expect(await small.json()).toMatchObject({ rejected: { length: 500 } });
  });

  it("of calls that differ in their ids is told call by call what is wrong with all of them", async () => {
    for (const count of [60, 500]) {
      const batch = times(count, (n) => ({ type: "track", userId: "", event: "E", messageId: randomUUID(), n }));
      const refused = await post(JSON.stringify({ batch, sentAt: new Date().toISOString() }));
      expect(refused.status).toBe(200);
      expect(await refused.json()).toMatchObject({ rejected: { length: count } });
    }
  });

  it("with more beside its calls than a client writes for its size is refused, and that is not parsed", async () => {
    const spy = vi.spyOn(JSON, "parse");
    const parsed = () => spy.mock.calls.filter(([text]) => String(text).length > 2_000);
    const beside = (letters: number) => JSON.stringify({ batch: [CALL], context: { note: "x".repeat(letters) } });
    expect((await post(beside(32_000))).status).toBe(200);
    expect(parsed()).toHaveLength(1);
    expect((await post(beside(60_000))).status).toBe(413);
    expect(parsed()).toHaveLength(1);
  });

  it("of real clients is taken: 500 calls, a large group's traits, a list of products, in any script", async () => {
    const context = {
      app: { name: "Shop", version: "5.2.1", build: "7001", namespace: "com.example.shop" },
      device: { id: randomUUID(), manufacturer: "Apple", model: "iPhone15,2", type: "ios", adTrackingEnabled: false },
      library: { name: "analytics-ios", version: "4.1.8" },
      os: { name: "iOS", version: "18.1" },
      screen: { width: 390, height: 844, density: 3 },
      network: { wifi: true, cellular: false, carrier: "キャリア" },
      locale: "ja-JP",
      timezone: "Asia/Tokyo",
    };
    const call = (n: number) => ({
      ...{ messageId: randomUUID(), anonymousId: context.device.id, userId: `user-${n % 7}` },
      ...{ timestamp: new Date(1_790_000_000_000 + 137 * n).toISOString(), integrations: { All: true } },
    });
    const products = times(40, (n) => ({
      ...{ product_id: `p-${n}`, sku: `45790-${n}`, name: `緑の靴下 ${n}`, category: "衣類", brand: "例" },
      ...{
        variant: "200 ml",
        price: 18.99,
        quantity: 1,
        coupon: "MAYDEALS",
        position: n,
        url: `https://example.com/${n}`,
      },
    }));
    const traits = Object.fromEntries(
      times(200, () => ({})).map((_, n) => [`属性 ${n}`, { value: n, text: "長い文".repeat(5) }]),
    );
    // A script's, without ids and times, which a client library's calls have.
    const row = Object.fromEntries(
      times(20, () => ({})).map((_, n) => [`column ${n}`, n % 3 === 0 ? n / 8 : `value ${n}`]),
    );
    const batches = [
      times(500, (n) => ({ type: "track", userId: `user-${n}`, event: "Imported", properties: { ...row, n } })),
      times(500, (n) => ({ ...call(n), type: "track", event: "Item Viewed", properties: { index: n % 10 }, context })),
      times(40, (n) => ({
        ...call(n),
        type: "track",
        event: "Order Completed",
        properties: { total: n, products },
        context,
      })),
      times(10, (n) => ({ ...call(n), type: "group", groupId: `g-${n}`, traits, context })),
    ];
    for (const batch of batches) {
      for (const body of [{ batch }, { batch: batch.map((each) => ({ ...each, context: null })), context }]) {
        const text = JSON.stringify({ ...body, sentAt: new Date().toISOString() });
        expect(Buffer.byteLength(text)).toBeLessThan(MAX_REQUEST_BYTES);
        const answer = await post(text);
        expect([answer.status, await answer.text()]).toEqual([200, expect.not.stringContaining("rejected")]);
      }
    }
  });
});
