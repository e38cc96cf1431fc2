/** Rules: AC1, AC2 and AC3 of accept.ts. */
import { PosthasteError } from "@posthaste/core/errors";
import { eventually } from "@posthaste/testkit/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RejectedCall } from "../src/answer/answer.ts";
import { SOURCE, startTestGateway, type TestGateway, WRITE_KEY } from "./test-gateway.ts";

interface BatchAnswer {
  readonly success: true;
  readonly rejected: readonly RejectedCall[];
}

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway({ acknowledgeTimeoutMs: 150 });
});
afterEach(() => gateway.close());

const CALL = { userId: "u", event: "E" };
const good = (userId: string) => ({ type: "track", userId, event: "E" });

const counted = async (answer: string) => {
  const metric = await gateway.registry.getSingleMetric("posthaste_ingest_calls_total")?.get();
  return metric?.values.find(({ labels }) => labels["answer"] === answer)?.value;
};

describe("acknowledgement (AC1)", () => {
  it("is waited for before a call is answered 200", async () => {
    await gateway.close();
    gateway = await startTestGateway();
    const { promise, resolve } = Promise.withResolvers<void>();
    gateway.producer.acknowledge = () => promise;
    let answered = false;
    const posted = gateway.post("/v1/track", CALL).then((response) => {
      answered = true;
      return response;
    });
    await eventually(() => expect(gateway.events()).toHaveLength(1));
    // Answers that wait for nothing come meanwhile.
    for (let other = 0; other < 3; other += 1) expect((await gateway.post("/v1/track", {})).status).toBe(400);
    expect(answered).toBe(false);
    resolve();
    const response = await posted;
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(`{"success":true}`);
  });

  it("that does not come in time is answered 503 with Retry-After", async () => {
    gateway.producer.acknowledge = () => new Promise(() => {});
    for (const [path, body] of [
      ["/v1/track", CALL],
      ["/v1/batch", { batch: [good("u"), good("v")] }],
      ["/v1/batch", { batch: [3] }],
    ] as const) {
      const response = await gateway.post(path, body);
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("1");
      expect(await response.json()).toMatchObject({ code: "not_acknowledged" });
    }
    expect(await counted("accepted")).toBe(0);
    expect(await counted("unavailable")).toBe(4);
  });

  it("that the producer refuses is answered 503", async () => {
    gateway.producer.acknowledge = () => Promise.reject(new PosthasteError("closed", "the producer is closed"));
    expect((await gateway.post("/v1/track", CALL)).status).toBe(503);
  });

  it("AC2: that came or failed ends what a source has waiting for it", async () => {
    await gateway.close();
    gateway = await startTestGateway({ maxPendingBytes: 1_000 });
    const statuses: number[] = [];
    for (const acknowledge of [() => Promise.resolve(), () => Promise.reject(new PosthasteError("closed", "closed"))]) {
      gateway.producer.acknowledge = acknowledge;
      for (let call = 0; call < 8; call++) statuses.push((await gateway.post("/v1/track", CALL)).status);
    }
    gateway.producer.acknowledge = () => Promise.resolve();
    statuses.push((await gateway.post("/v1/track", CALL)).status);
    expect(statuses).toEqual([...Array(8).fill(200), ...Array(8).fill(503), 200]);
  });

  it("is of one send: the events of a request and its rejected calls", async () => {
    let sends = 0;
    gateway.producer.acknowledge = () => {
      sends++;
      return Promise.resolve();
    };
    await gateway.post("/v1/batch", { batch: [good("u"), 3, good("v")] });
    expect(sends).toBe(1);
    expect(gateway.producer.sent.map(({ topic, key }) => [topic, key])).toEqual([
      ["events", `${SOURCE.id}:u`],
      ["events", `${SOURCE.id}:v`],
      ["rejected-calls", SOURCE.id],
    ]);
  });
});

describe("backpressure (AC2)", () => {
  it.each([
    ["more bytes wait for the brokers than may", { pendingBytes: 1_000_001 }],
    ["no partition of the events took anything for longer than a caller waits", { stalledForMs: 151 }],
  ])("refuses at once while %s", async (_name, state) => {
    Object.assign(gateway.producer, state);
    const response = await gateway.post("/v1/track", CALL);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(gateway.producer.sent).toEqual([]);
  });

  it("P1: refuses the calls to a partition that takes nothing, at once, and no others", async () => {
    gateway.producer.acknowledge = () =>
      Promise.reject(new PosthasteError("broker_unavailable", "stuck", { retryable: true }));
    expect((await gateway.post("/v1/track", CALL)).status).toBe(503);
    // A partition has as long as a caller waits.
    expect(gateway.producer.patienceMs).toBe(150);
    gateway.producer.acknowledge = () => Promise.resolve();
    expect((await gateway.post("/v1/track", CALL)).status).toBe(200);
  });

  it("does not parse what it refuses for that", async () => {
    gateway.producer.pendingBytes = 1_000_001;
    const answers = await Promise.all(["/v1/track", "/v1/batch"].map((path) => gateway.post(path, "{")));
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
  });

  it("refuses a batch whose context, repeated in each call, makes megabytes of it", async () => {
    const batch = Array.from({ length: 2_000 }, () => good("u"));
    const response = await gateway.post("/v1/batch", { batch, context: { blob: "x".repeat(30_000) } });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: "request_too_large" });
    expect(gateway.producer.sent).toEqual([]);
  });

  it.each([
    [
      "too large for any call",
      `{"n":[${Array.from({ length: 80_000 }, () => "1e20").join(",")}]}`,
      413,
      "request_too_large",
    ],
    ["too deep for any call", `${`{"a":`.repeat(101)}1${"}".repeat(101)}`, 400, "nested_too_deep"],
  ])("refuses a batch whose context is %s", async (_name, context, status, code) => {
    const response = await gateway.post("/v1/batch", `{"batch":[${JSON.stringify(good("u"))}],"context":${context}}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code });
    expect(gateway.producer.sent).toEqual([]);
  });

  it("refuses a batch of thousands of things that are no calls", async () => {
    const response = await gateway.post("/v1/batch", { batch: Array.from({ length: 10_000 }, () => 0) });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "too_many_rejected_calls" });
    expect(gateway.producer.sent).toEqual([]);
  });
});

describe("a batch with bad calls (AC3)", () => {
  it("has its good ones taken, and the bad ones named in the answer and kept with their reason", async () => {
    const bad = { type: "track", userId: "u", writeKey: WRITE_KEY };
    const response = await gateway.post("/v1/batch", { batch: [good("a"), bad, { type: "page" }, good("b")] });
    expect(response.status).toBe(200);
    const answer = (await response.json()) as BatchAnswer;
    expect(answer).toEqual({
      success: true,
      rejected: [
        { index: 1, code: "missing_event", message: `A track call needs the event's name in "event".` },
        { index: 2, code: "missing_user", message: `A call needs a "userId" or an "anonymousId" that is not empty.` },
      ],
    });
    expect(gateway.events().map(({ userId }) => userId)).toEqual(["a", "b"]);
    const [kept] = gateway.rejected();
    expect(kept).toMatchObject({ sourceId: SOURCE.id, calls: answer.rejected });
    expect(kept?.calls[0]?.callJson).toBe(`{"type":"track","userId":"u"}`);
    expect(await counted("accepted")).toBe(2);
    expect(await counted("rejected")).toBe(2);
  });

  it("is answered 200 when all of them are bad, and when there are none", async () => {
    const allBad = await gateway.post("/v1/batch", { batch: [null, "x"] });
    expect(allBad.status).toBe(200);
    expect(((await allBad.json()) as BatchAnswer).rejected).toHaveLength(2);
    const empty = await gateway.post("/v1/batch", { batch: [] });
    expect(await empty.text()).toBe(`{"success":true}`);
  });
});

describe("a single call that is refused", () => {
  it.each([
    ["/v1/identify", { traits: {} }, "missing_user"],
    ["/v1/track", { userId: "u" }, "missing_event"],
    ["/v1/page", { userId: "u", properties: 1 }, "invalid_field"],
    ["/v1/screen", { userId: "u", timestamp: "soon" }, "invalid_timestamp"],
  ])("at %s for %j is told %s, and kept with its reason", async (path, body, code) => {
    const response = await gateway.post(path, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ code, message: expect.stringMatching(/\.$/) });
    expect(gateway.events()).toEqual([]);
    expect(gateway.rejected()).toMatchObject([
      { sourceId: SOURCE.id, calls: [{ code, index: 0, callJson: JSON.stringify(body) }] },
    ]);
    expect(await counted("malformed")).toBe(1);
  });
});

describe("a body that is no batch or call", () => {
  it.each([
    ["/v1/track", "", "empty_body"],
    ["/v1/track", "{", "malformed_json"],
    ["/v1/track", "[]", "not_an_object"],
    ["/v1/track", "null", "not_an_object"],
    ["/v1/batch", "{}", "invalid_field"],
    ["/v1/batch", `{"batch":{}}`, "invalid_field"],
    ["/v1/batch", `{"batch":[],"context":3}`, "invalid_field"],
  ])("at %s, %j, is told %s", async (path, body, code) => {
    const response = await gateway.post(path, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ code, message: expect.stringMatching(/\.$/) });
  });

  it("may begin with a byte order mark", async () => {
    expect((await gateway.post("/v1/track", `\ufeff${JSON.stringify(CALL)}`)).status).toBe(200);
  });
});
