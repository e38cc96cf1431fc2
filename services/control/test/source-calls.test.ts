/** The recent calls of a source, and a sample call to try the source. */
import { UNKNOWN_SOURCE_ID } from "@posthaste/core/call/source-activity";
import type { Event } from "@posthaste/core/event/event";
import { eventKey } from "@posthaste/core/routing/partition-key";
import { createLogWriter, type LogWriter } from "@posthaste/testbed/log-writer";
import { testEvent } from "@posthaste/testbed/test-event";
import { createTestTopics, type TestTopics } from "@posthaste/testbed/test-topics";
import { eventually } from "@posthaste/testkit/eventually";
import { type Receiver, startReceiver } from "@posthaste/testkit/receiver";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sendSample } from "../src/configuration/sources/sample-call.ts";
import { startTestControl, type TestControl } from "./control.ts";

const NOW_MS = Math.floor(Date.now() / 1000) * 1000;
const REQUEST = {
  ...{ status: 429, code: "rate_limited", path: "/v1/batch", bytes: 70, userAgent: "mine/1", unknownKey: null },
  messageIds: ["m-7", "m-8"],
};

let topics: TestTopics;
let control: TestControl;
let ingest: Receiver;
let writer: LogWriter;
let sourceId: string;
let writeKey: string;

const send = async (...events: readonly Event[]) => {
  const codec = await topics.openCodec<Event>("event");
  await topics.producer.send(
    events.map((event) => ({
      ...{ topic: topics.names.events, key: eventKey(event.sourceId, event), value: codec.encode(event) },
    })),
  );
};
const callsOf = async (id: string, query = "") => (await control.call("GET", `/v1/sources/${id}/calls${query}`)).body;
const whatOf = async (id: string) => {
  const { data } = await callsOf(id);
  return data.map(({ what, messageIds }: { what: string; messageIds: string[] }) => [what, ...messageIds]);
};

beforeAll(async () => {
  topics = await createTestTopics("control");
  ingest = await startReceiver();
  control = await startTestControl(topics, { env: { POSTHASTE_INGEST_URL: ingest.url } });
  writer = await createLogWriter(topics);
});
afterAll(async () => {
  await control.stop();
  await ingest.close();
  await topics.remove();
});
beforeEach(async () => {
  ingest.clear();
  const { body } = await control.call("POST", "/v1/sources", { name: "Shop", kind: "server" });
  ({ id: sourceId, writeKey } = body);
});

describe("a source's calls", () => {
  it("are the newest, taken or not, with what to change", async () => {
    await send(
      testEvent("taken", { sourceId, receivedAtMs: NOW_MS, event: "Ordered" }),
      testEvent("of another", { sourceId: "src_2", receivedAtMs: NOW_MS }),
    );
    const call = {
      ...{ rejectedAtMs: NOW_MS + 1000, code: "missing_user", message: "Say whose it is.", index: 0 },
      ...{ callJson: "{}", messageId: "bad", userKey: null, event: "Ordered", single: true },
    };
    await writer.rejectedCalls({ sourceId, calls: [call] });
    await writer.activity({
      ...{ sourceId, instance: "i", sinceMs: NOW_MS, untilMs: NOW_MS + 3000, accepted: 1, lastAcceptedMs: NOW_MS },
      ...{ rejected: { missing_user: 1 }, refused: { rate_limited: 3, unavailable: 1 } },
      samples: [{ ...REQUEST, atMs: NOW_MS + 2000 }],
    });
    const { data, counts } = await eventually(async () => {
      const body = await callsOf(sourceId);
      expect(body.data).toHaveLength(3);
      expect(body.complete).toBe(true);
      return body;
    });
    expect(data).toMatchObject([
      {
        ...{ what: "refused", code: "rate_limited", status: 429, path: "/v1/batch", bytes: 70, userAgent: "mine/1" },
        ...{ messageIds: ["m-7", "m-8"], advice: expect.stringContaining("send less"), message: null },
      },
      {
        ...{ what: "rejected", code: "missing_user", message: "Say whose it is.", event: "Ordered" },
        ...{ messageIds: ["bad"], advice: expect.stringContaining("userId or an anonymousId"), status: null },
      },
      {
        what: "taken",
        code: null,
        advice: null,
        type: "track",
        event: "Ordered",
        userKey: "u1",
        messageIds: ["taken"],
      },
    ]);
    expect(counts).toMatchObject({
      ...{ accepted: 1, perSecond: expect.any(Number) },
      lastAcceptedAt: new Date(NOW_MS).toISOString(),
      rejected: [{ code: "missing_user", count: 1 }],
      refused: [
        { code: "rate_limited", count: 3 },
        { code: "unavailable", count: 1, advice: expect.stringContaining("same messageId") },
      ],
    });
    expect((await callsOf(sourceId, "?limit=1")).data).toMatchObject([{ what: "refused" }]);
    const later = new Date(NOW_MS + 4000).toISOString();
    expect((await callsOf(sourceId, `?since=${later}`)).counts).toMatchObject({ accepted: 0, rejected: [] });
  });

  it("come as they are sent, while somebody asks", async () => {
    expect(await whatOf(sourceId)).toEqual([]);
    await send(testEvent("new", { sourceId, receivedAtMs: NOW_MS }));
    await eventually(async () => expect(await whatOf(sourceId)).toEqual([["taken", "new"]]));
    await send(testEvent("newer", { sourceId, receivedAtMs: NOW_MS + 1, userId: "u2" }));
    await eventually(async () =>
      expect(await whatOf(sourceId)).toEqual([
        ["taken", "newer"],
        ["taken", "new"],
      ]),
    );
  });

  it("that stood in the topic before anybody asked are found", async () => {
    const other = (await control.call("POST", "/v1/sources", { name: "Other", kind: "web" })).body.id;
    await send(testEvent("of the other", { sourceId: other, receivedAtMs: NOW_MS }));
    await eventually(async () => expect(await whatOf(other)).toEqual([["taken", "of the other"]]));
    await send(testEvent("before", { sourceId, receivedAtMs: NOW_MS }));
    await send(testEvent("after it", { sourceId: other, receivedAtMs: NOW_MS + 1 }));
    await eventually(async () => expect(await whatOf(other)).toHaveLength(2));
    // The first answers may say that not all was read.
    const allOf = (id: string) =>
      eventually(async () => {
        const { data, complete } = await callsOf(id);
        expect(complete).toBe(true);
        return data.map(({ messageIds }: { messageIds: string[] }) => messageIds[0]);
      });
    expect(await allOf(sourceId)).toEqual(["before"]);
    expect(await allOf(other)).toEqual(["after it", "of the other"]);
  });

  it("that were taken are twenty of a second at the most", async () => {
    const events = Array.from({ length: 100 }, (_, n) => testEvent(`m${n}`, { sourceId, receivedAtMs: NOW_MS + n }));
    await send(...events);
    await eventually(async () => expect((await callsOf(sourceId)).data.length).toBeGreaterThanOrEqual(20));
    // Two, where the second ended while they were sent.
    expect((await callsOf(sourceId, "?limit=200")).data.length).toBeLessThanOrEqual(40);
  });

  it("are without those of a user whose events a deletion request stopped", async () => {
    await send(testEvent("kept", { sourceId, receivedAtMs: NOW_MS, userId: "stays" }));
    await send(testEvent("stopped", { sourceId, receivedAtMs: NOW_MS, userId: "leaves" }));
    await eventually(async () => expect(await whatOf(sourceId)).toHaveLength(2));
    const deletion = { userId: "leaves", sourceIds: [sourceId], suppress: true };
    expect((await control.call("POST", "/v1/deletions", deletion)).status).toBe(202);
    await eventually(async () => expect(await whatOf(sourceId)).toEqual([["taken", "kept"]]));
  });

  it("of nobody are asked for as those of the source that is not known", async () => {
    await writer.activity({
      ...{ sourceId: UNKNOWN_SOURCE_ID, instance: "i", sinceMs: NOW_MS, untilMs: NOW_MS, accepted: 0 },
      ...{ lastAcceptedMs: null, rejected: {}, refused: { unknown_write_key: 1 } },
      samples: [
        {
          ...REQUEST,
          code: "unknown_write_key",
          status: 401,
          atMs: NOW_MS,
          unknownKey: "4k2v… sha256:0123456789abcdef",
        },
      ],
    });
    await eventually(async () =>
      expect((await callsOf(UNKNOWN_SOURCE_ID)).data).toMatchObject([
        { what: "refused", code: "unknown_write_key", unknownKey: "4k2v… sha256:0123456789abcdef" },
      ]),
    );
  });

  it("are those of a source that there is", async () => {
    expect((await control.call("GET", "/v1/sources/src_none/calls")).status).toBe(404);
    expect((await control.call("GET", `/v1/sources/${sourceId}/calls?limit=0`)).status).toBe(400);
  });
});

describe("a sample call", () => {
  const sample = (body: unknown = {}) => control.call("POST", `/v1/sources/${sourceId}/sample`, body);

  it("goes to ingest as the source would send it, and says by which id it is looked for", async () => {
    ingest.script("/v1/track", { status: 200, body: '{"success":true}' });
    const { status, body } = await sample();
    expect([status, body]).toEqual([
      200,
      {
        messageId: expect.stringMatching(/^test_/),
        type: "track",
        taken: true,
        status: 200,
        code: null,
        message: null,
      },
    ]);
    const [request] = ingest.requestsTo("/v1/track");
    expect(request?.headers["authorization"]).toBe(`Basic ${btoa(`${writeKey}:`)}`);
    expect(JSON.parse(String(request?.body))).toMatchObject({
      ...{ messageId: body.messageId, userId: "test-user", event: "Test Event", properties: { product: "test" } },
    });
  });

  it("may be of any type", async () => {
    expect((await sample({ type: "identify" })).body).toMatchObject({ type: "identify", taken: true });
    expect(JSON.parse(String(ingest.requestsTo("/v1/identify")[0]?.body))).toMatchObject({ traits: { plan: "test" } });
    expect((await sample({ type: "delete" })).status).toBe(400);
  });

  it("that ingest refused says why", async () => {
    ingest.script("/v1/track", { status: 401, body: '{"code":"source_disabled","message":"It is off."}' });
    expect((await sample()).body).toMatchObject({
      ...{ taken: false, status: 401, code: "source_disabled", message: "It is off." },
    });
  });

  it.each(["/behind", "/behind/", "//behind"])("goes below the path %s of ingest's address", async (path) => {
    const call = { writeKey, type: "track", messageId: "m-1", nowMs: NOW_MS } as const;
    const address = `${ingest.url}${path}?and=what-follows#it`;
    expect(await sendSample({ ...call, ingestUrl: address })).toMatchObject({ taken: true });
    expect(ingest.requests.map((request) => request.path)).toEqual([`${path.replace(/\/$/, "")}/v1/track`]);
  });

  it("follows no redirect: the write key goes to ingest alone", async () => {
    const elsewhere = await startReceiver();
    ingest.script("/v1/track", { status: 307, headers: { location: `${elsewhere.url}/v1/track` } });
    const { body } = await sample();
    expect(body).toMatchObject({ taken: false, status: 307, message: expect.stringContaining("redirect") });
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it("is told apart from what another server says", async () => {
    ingest.script("/v1/track", { status: 404, body: "<html>secret page</html>" });
    const { body, text } = await sample();
    expect(body).toMatchObject({ taken: false, status: 404, code: null, message: expect.stringContaining("ingest?") });
    expect(text).not.toContain("secret page");
    ingest.script("/v1/track", { status: 500, body: "x".repeat(10_000_000) });
    expect((await sample()).body).toMatchObject({ taken: false, status: 500 });
  });

  it("says so where ingest does not answer, and where control does not know where ingest is", async () => {
    const gone = await startTestControl(topics, { env: { POSTHASTE_INGEST_URL: "http://127.0.0.1:9" } });
    const { body } = await gone.call("POST", `/v1/sources/${sourceId}/sample`, {});
    expect(body).toMatchObject({ taken: false, status: null, message: expect.stringContaining("127.0.0.1:9 cannot") });
    await gone.stop();
    const unset = await startTestControl(topics, { env: { POSTHASTE_INGEST_URL: "" } });
    const refused = await unset.call("POST", `/v1/sources/${sourceId}/sample`, {});
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining("set POSTHASTE_INGEST_URL")]);
    await unset.stop();
  });

  it("is of a source that there is", async () => {
    expect((await control.call("POST", "/v1/sources/src_none/sample", {})).status).toBe(404);
  });
});
