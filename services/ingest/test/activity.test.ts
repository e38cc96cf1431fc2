/** The reported activity of each source, by a gateway over real sockets and by the service (RF1 of refusals.ts). */
import { gzipSync } from "node:zlib";
import { type SourceActivity, UNKNOWN_SOURCE_ID } from "@posthaste/core/call/source-activity";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, describe, expect, it } from "vitest";
import type { GatewayOptions } from "../src/gateway.ts";
import { startRealIngest } from "./real-broker.ts";
import { RECEIVED_AT_MS, SOURCE, startTestGateway, type TestGateway, WRITE_KEY } from "./test-gateway.ts";

const TRACK = { userId: "u", event: "Ordered" };

let gateway: TestGateway;
/** Within one minute, and told at the end alone, however long a test takes. */
const start = async (options: Partial<GatewayOptions> = {}) => {
  const clock = { nowMs: () => RECEIVED_AT_MS, monotonicMs: () => 0 };
  gateway = await startTestGateway({ clock, activityIntervalMs: 600_000, ...options });
};
afterEach(() => gateway.close());

/** The activity of a source by the end of the gateway. */
const reported = async (sourceId: string): Promise<SourceActivity | undefined> => {
  await gateway.close();
  const records = gateway.producer.sent.filter(({ topic }) => topic === "source-activity");
  const values = records.map(({ value }): SourceActivity => JSON.parse(String(value)));
  expect(records.map(({ key }) => key)).toEqual(values.map((value) => value.sourceId));
  return values.find((value) => value.sourceId === sourceId);
};
const post = (path: string, key: string, body: unknown) =>
  gateway.post(path, body, { authorization: `Basic ${btoa(`${key}:`)}` });

describe("a source's activity", () => {
  it("has the calls that were taken and those that were not, by their codes", async () => {
    await start();
    await gateway.post("/v1/track", TRACK);
    await gateway.post("/v1/batch", { batch: [{ ...TRACK, type: "track" }, { type: "track", userId: "u" }, 7] });
    await gateway.post("/v1/track", { event: "Ordered" });
    await gateway.post("/v1/track", { ...TRACK, properties: { long: "x".repeat(40_000) } });
    expect(await reported(SOURCE.id)).toMatchObject({
      accepted: 2,
      rejected: { missing_event: 1, not_an_object: 1, missing_user: 1, call_too_large: 1 },
      ...{ refused: {}, samples: [] },
    });
  });

  it("has the requests that were refused as a whole, with the message ids in them", async () => {
    await start();
    await gateway.post("/v1/batch?x=1", `{"batch":[{"messageId":"m1"},{"messageId":"m2"}`, { "user-agent": "mine/1" });
    await gateway.post("/v1/batch", gzipSync(`{"batch":{"messageId":"m3"}}`), { "content-encoding": "gzip" });
    await gateway.post("/v1/batch", "x", { "content-encoding": "zstd" });
    await gateway.post("/v1/batch", "x".repeat(600_000));
    const activity = await reported(SOURCE.id);
    expect(activity).toMatchObject({ accepted: 0, lastAcceptedMs: null, rejected: {} });
    expect(activity?.refused).toEqual({
      malformed_json: 1,
      invalid_field: 1,
      unsupported_encoding: 1,
      request_too_large: 1,
    });
    expect(activity?.samples).toMatchObject([
      {
        code: "malformed_json",
        status: 400,
        path: "/v1/batch",
        bytes: 47,
        userAgent: "mine/1",
        messageIds: ["m1", "m2"],
      },
      { code: "invalid_field", messageIds: ["m3"], unknownKey: null },
      { code: "unsupported_encoding", status: 415, messageIds: [] },
      { code: "request_too_large", status: 413, bytes: 600_000, messageIds: [] },
    ]);
  });

  it("RF1: has the ids of compressed bodies, of twenty a minute, whoever sends", async () => {
    await start();
    const ids = Array.from({ length: 6 }, (_, n) => `src-${n}`);
    for (const id of ids) {
      gateway.writeKeys.apply(id, { ...SOURCE, id, writeKeys: [{ key: `wk-${id}`, expiresAtMs: null }] });
    }
    for (const id of ids) {
      for (let n = 0; n < 5; n++) {
        await gateway.post("/v1/batch", gzipSync(`{"batch":{"messageId":"${n}"}}`), {
          ...{ authorization: `Basic ${btoa(`wk-${id}:`)}`, "content-encoding": "gzip" },
        });
      }
    }
    await gateway.close();
    const values = gateway.producer.sent.map(({ value }): SourceActivity => JSON.parse(String(value)));
    const named = values.flatMap(({ samples }) => samples.map(({ messageIds }) => messageIds.length));
    expect([named.length, named.filter((length) => length === 1).length]).toEqual([30, 20]);
  });

  it("has what was refused since more was sent than may be, or since the brokers lag behind", async () => {
    await start({ perSource: { calls: 1, bytes: 1_000_000 } });
    await gateway.post("/v1/batch", { batch: Array(100).fill({ ...TRACK, type: "track" }) });
    await gateway.post("/v1/track", TRACK);
    await gateway.post(
      "/v1/track",
      { ...TRACK, messageId: "in the body alone", writeKey: WRITE_KEY },
      { authorization: "" },
    );
    gateway.producer.pendingBytes = 2_000_000;
    await gateway.post("/v1/track", TRACK);
    const activity = await reported(SOURCE.id);
    expect(activity).toMatchObject({ accepted: 100, refused: { rate_limited: 2, unavailable: 1 } });
    expect(activity?.samples.map(({ status, messageIds }) => [status, messageIds])).toEqual([
      [429, []],
      [429, ["in the body alone"]],
      [503, []],
    ]);
  });

  it("has the calls that the brokers did not acknowledge in time", async () => {
    const clock = { nowMs: () => RECEIVED_AT_MS, monotonicMs: () => performance.now() };
    await start({ clock, acknowledgeTimeoutMs: 30 });
    gateway.producer.acknowledge = () => new Promise(() => {});
    await gateway.post("/v1/track", { ...TRACK, messageId: "late" });
    const activity = await reported(SOURCE.id);
    expect(activity).toMatchObject({
      accepted: 0,
      refused: { not_acknowledged: 1 },
      samples: [{ messageIds: ["late"] }],
    });
  });

  it("has what a pixel sent, which its page never hears of", async () => {
    await start();
    const data = (call: unknown) => Buffer.from(JSON.stringify(call)).toString("base64");
    const pixel = (text: string) => fetch(`${gateway.url}/v1/pixel/track?data=${text}&writeKey=${WRITE_KEY}`);
    await pixel(data(TRACK));
    await pixel(data({ event: "Ordered" }));
    await pixel("!");
    expect(await reported(SOURCE.id)).toMatchObject({
      accepted: 1,
      rejected: { missing_user: 1 },
      refused: { malformed_request: 1 },
      samples: [{ path: "/v1/pixel/track" }],
    });
  });

  it("is that of a source which is switched off, where its key is sent", async () => {
    await start();
    gateway.writeKeys.apply("off", {
      ...{ ...SOURCE, id: "off", enabled: false },
      writeKeys: [{ key: "wk-off", expiresAtMs: null }],
    });
    await post("/v1/track", "wk-off", TRACK);
    expect(await reported("off")).toMatchObject({ refused: { source_disabled: 1 }, samples: [{ status: 401 }] });
  });
});

describe("requests of nobody", () => {
  it("are told together, an unknown key by four characters and a hash", async () => {
    await start();
    await post("/v1/track", "4k2v-no-such-key", TRACK);
    await gateway.post("/v1/track", { ...TRACK, writeKey: "9x8y-in-the-body", messageId: "m" }, { authorization: "" });
    await gateway.post("/v1/track", TRACK, { authorization: "" });
    const activity = await reported(UNKNOWN_SOURCE_ID);
    expect(activity).toMatchObject({ accepted: 0, refused: { unknown_write_key: 2, missing_write_key: 1 } });
    expect(activity?.samples).toMatchObject([
      { unknownKey: expect.stringMatching(/^4k2v… sha256:[0-9a-f]{16}$/), messageIds: [] },
      { unknownKey: expect.stringMatching(/^9x8y… sha256:[0-9a-f]{16}$/), messageIds: ["m"] },
      { unknownKey: null },
    ]);
    expect(JSON.stringify(activity)).not.toMatch(/no-such-key|in-the-body/);
  });

  it("count for nobody else where the key that is found is not the key that counts", async () => {
    await start();
    const body = { ...TRACK, properties: { writeKey: WRITE_KEY }, writeKey: "other" };
    expect((await gateway.post("/v1/track", body, { authorization: "" })).status).toBe(401);
    expect(await reported(SOURCE.id)).toBeUndefined();
  });

  it("are one record, however many keys they try", async () => {
    await start();
    for (let n = 0; n < 100; n++) await post("/v1/track", `key-${n}`, TRACK);
    const activity = await reported(UNKNOWN_SOURCE_ID);
    expect(activity?.refused).toEqual({ unknown_write_key: 100 });
    expect(activity?.samples).toHaveLength(20);
  });
});

it("stands in the topic when the service has stopped, and before that at each interval", async () => {
  await start();
  const intervalMs = 200;
  const ingest = await startRealIngest({ activityIntervalMs: intervalMs });
  const send = (body: string) =>
    fetch(`${ingest.url}/v1/track`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${WRITE_KEY}:`)}` },
      body,
    });
  try {
    await send(JSON.stringify(TRACK));
    await send("no JSON");
    const sum = (count: (activity: SourceActivity) => number | undefined) =>
      ingest.activity.reduce((all, each) => all + (count(each) ?? 0), 0);
    // In a record each where an interval ends between the two.
    await eventually(() =>
      expect([sum(({ accepted }) => accepted), sum(({ refused }) => refused["malformed_json"])]).toEqual([1, 1]),
    );
    expect(new Set(ingest.activity.map(({ sourceId }) => sourceId))).toEqual(new Set([SOURCE.id]));
    const samples = ingest.activity.flatMap((each) => each.samples);
    expect(samples).toMatchObject([{ code: "malformed_json", bytes: 7 }]);
    for (const { sinceMs, untilMs, lastAcceptedMs } of ingest.activity) {
      expect(untilMs - sinceMs).toBeGreaterThanOrEqual(intervalMs - 10);
      if (lastAcceptedMs !== null) expect(lastAcceptedMs).toBeGreaterThanOrEqual(sinceMs);
    }
    await send(JSON.stringify(TRACK));
    await ingest.stopService();
    await eventually(() => expect(sum(({ accepted }) => accepted)).toBe(2));
  } finally {
    await ingest.stop();
  }
});
