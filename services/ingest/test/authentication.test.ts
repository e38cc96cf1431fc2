/** Rules: CK1 of connection-keys.ts. */
import type { Source } from "@posthaste/core/config/source";
import { PosthasteError } from "@posthaste/core/errors";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { GatewayOptions } from "../src/gateway.ts";
import { openSocket, readResponse, sendRaw, toRequestBytes } from "./raw-request.ts";
import { RECEIVED_AT_MS, SOURCE, startTestGateway, type TestGateway, WRITE_KEY } from "./test-gateway.ts";

let gateway: TestGateway;
afterEach(() => gateway.close());

const start = async (options: Partial<GatewayOptions> = {}) => {
  gateway = await startTestGateway(options);
};
const CALL = { userId: "u", event: "E" };
const basic = (credentials: string) => ({ authorization: `Basic ${btoa(credentials)}` });
const sourceWith = (change: Partial<Source>): Source => ({ ...SOURCE, ...change });

describe("the write key", () => {
  it.each([
    ["Basic as clients send it", basic(`${WRITE_KEY}:`), {}],
    ["Basic with a password, which is not looked at", basic(`${WRITE_KEY}:secret`), {}],
    ["Basic without a colon, as old clients send it", basic(WRITE_KEY), {}],
    ["basic in small letters", { authorization: `basic ${btoa(`${WRITE_KEY}:`)}` }, {}],
    ["the body alone", { authorization: "" }, { writeKey: WRITE_KEY }],
    ["the body beside a Bearer token", { authorization: "Bearer token" }, { writeKey: WRITE_KEY }],
    ["both", basic(`${WRITE_KEY}:`), { writeKey: WRITE_KEY }],
  ])("is taken from %s", async (_name, headers, body) => {
    await start();
    expect((await gateway.post("/v1/track", { ...CALL, ...body }, headers)).status).toBe(200);
  });

  it.each([
    ["missing_write_key", { authorization: "" }],
    ["missing_write_key", basic(":")],
    ["missing_write_key", { authorization: "Basic" }],
    ["unknown_write_key", basic("nobody:")],
    ["unknown_write_key", basic(`${WRITE_KEY}x:`)],
    ["unknown_write_key", basic(`${"k".repeat(2_000)}:`)],
  ])("is answered 401 %s with %j", async (code, headers) => {
    await start();
    const response = await gateway.post("/v1/track", CALL, headers);
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ code, message: expect.stringMatching(/\.$/) });
    expect(gateway.producer.sent).toEqual([]);
  });

  it("is missed too in a request without a body, whichever way its headers say so", async () => {
    await start();
    for (const headers of [[], ["Content-Length: 0"]]) {
      const response = await sendRaw(gateway.url, toRequestBytes("POST", "/v1/track", headers));
      expect([response?.status, response?.body]).toEqual([401, expect.stringContaining("missing_write_key")]);
    }
  });

  it("in the header stands over the one in the body", async () => {
    await start();
    expect((await gateway.post("/v1/track", { ...CALL, writeKey: WRITE_KEY }, basic("nobody:"))).status).toBe(401);
  });
});

describe("requests of one connection", () => {
  const body = JSON.stringify(CALL);
  /** The statuses of requests that follow each other, by their paths. */
  const statusesOf = async (header: string, paths: readonly string[]) => {
    const socket = await openSocket(gateway.url);
    const statuses: (number | undefined)[] = [];
    for (const path of paths) {
      socket.write(toRequestBytes("POST", path, [`Authorization: ${header}`], body));
      statuses.push((await readResponse(socket))?.status);
    }
    socket.destroy();
    return statuses;
  };

  it("with the same header have their key looked up once (CK1)", async () => {
    await start();
    const find = vi.spyOn(gateway.writeKeys, "find");
    const paths = Array<string>(5).fill("/v1/track");
    expect(await statusesOf(`Basic ${btoa(`${WRITE_KEY}:`)}`, paths)).toEqual([200, 200, 200, 200, 200]);
    expect(find).toHaveBeenCalledTimes(1);
  });

  it("with a key in the address are of that key each, whatever a header beside it says (CK1)", async () => {
    await start();
    const paths = [`/v1/track?writeKey=${WRITE_KEY}`, "/v1/track?writeKey=nobody", "/v1/track"];
    expect(await statusesOf("Bearer token", paths)).toEqual([200, 401, 401]);
  });
});

describe("a key that is not known yet", () => {
  it("is looked for at the table's present end before it is refused", async () => {
    let refreshes = 0;
    await start({
      refreshSources: async (timeoutMs) => {
        expect(timeoutMs).toBe(1_000);
        refreshes++;
        gateway.writeKeys.apply("new", sourceWith({ id: "new", writeKeys: [{ key: "wk-new", expiresAtMs: null }] }));
      },
    });
    expect((await gateway.post("/v1/track", CALL, basic("wk-new:"))).status).toBe(200);
    expect(gateway.events()[0]?.sourceId).toBe("new");
    expect(refreshes).toBe(1);
  });

  it("is answered 503, not 401, while the table cannot be read: some clients never resend on 401", async () => {
    await start({
      refreshSources: () => Promise.reject(new PosthasteError("deadline_exceeded", "no broker", { retryable: true })),
    });
    const response = await gateway.post("/v1/track", CALL, basic("nobody:"));
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect((await gateway.post("/v1/track", CALL)).status).toBe(200);
  });

  it("is taken when it became known while the table could not be read to its end", async () => {
    await start({
      refreshSources: () => {
        gateway.writeKeys.apply("new", sourceWith({ id: "new", writeKeys: [{ key: "new", expiresAtMs: null }] }));
        return Promise.reject(new PosthasteError("deadline_exceeded", "too late"));
      },
    });
    expect((await gateway.post("/v1/track", CALL, basic("new:"))).status).toBe(200);
  });

  it("is not looked for where it is longer than any of ours", async () => {
    let refreshes = 0;
    await start({ refreshSources: () => Promise.resolve(void refreshes++) });
    expect((await gateway.post("/v1/track", CALL, basic(`${"k".repeat(2_000)}:`))).status).toBe(401);
    expect(refreshes).toBe(0);
    expect((await gateway.post("/v1/track", CALL, basic("nobody:"))).status).toBe(401);
    expect(refreshes).toBe(1);
  });

  it("is looked for in a body that names beside it one that was refused again and again", async () => {
    let refreshes = 0;
    // Of one second, however long the requests take: it is refused again and again within one.
    const clock = { nowMs: () => RECEIVED_AT_MS, monotonicMs: () => 0 };
    await start({ clock, refreshSources: () => Promise.resolve(void refreshes++) });
    const post = (body: object) => gateway.post("/v1/track", { ...CALL, ...body }, { authorization: "" });
    for (let time = 0; time < 20; time++) await post({ writeKey: "no" });
    expect(refreshes).toBe(10);
    expect((await post({ properties: { writeKey: "no" }, writeKey: "other" })).status).toBe(401);
    expect(refreshes).toBe(11);
  });

  it("shares one refresh at a time with the others", async () => {
    const { promise: read, resolve: finishReading } = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    let refreshes = 0;
    await start({
      refreshSources: async () => {
        refreshes++;
        most = Math.max(most, ++running);
        await read;
        running--;
      },
    });
    const looked = vi.spyOn(gateway.writeKeys, "find");
    const posted = Array.from({ length: 20 }, (_, index) => gateway.post("/v1/track", CALL, basic(`no-${index}:`)));
    await eventually(() => expect(new Set(looked.mock.calls.map(([key]) => key)).size).toBe(20));
    expect(running).toBe(1);
    finishReading();
    const statuses = (await Promise.all(posted)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(most).toBe(1);
    expect(refreshes).toBe(2);
  });
});

describe("a source", () => {
  it("whose key is rotated is sent to by both keys until the old one's moment", async () => {
    const keys = (expiresAtMs: number) => [
      { key: "wk-new", expiresAtMs: null },
      { key: WRITE_KEY, expiresAtMs },
    ];
    await start();
    gateway.writeKeys.apply(SOURCE.id, sourceWith({ writeKeys: keys(RECEIVED_AT_MS + 1) }));
    expect((await gateway.post("/v1/track", CALL)).status).toBe(200);
    expect((await gateway.post("/v1/track", CALL, basic("wk-new:"))).status).toBe(200);
    gateway.writeKeys.apply(SOURCE.id, sourceWith({ writeKeys: keys(RECEIVED_AT_MS) }));
    expect((await gateway.post("/v1/track", CALL)).status).toBe(401);
    expect((await gateway.post("/v1/track", CALL, basic("wk-new:"))).status).toBe(200);
  });

  it("that is switched off, or removed, is sent to no more", async () => {
    await start();
    gateway.writeKeys.apply(SOURCE.id, sourceWith({ enabled: false }));
    const off = await gateway.post("/v1/track", CALL);
    expect(off.status).toBe(401);
    expect(await off.json()).toMatchObject({ code: "source_disabled" });
    gateway.writeKeys.apply(SOURCE.id, undefined);
    expect(await (await gateway.post("/v1/track", CALL)).json()).toMatchObject({ code: "unknown_write_key" });
  });
});
