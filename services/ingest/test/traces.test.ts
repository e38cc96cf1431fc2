/** The spans of ingest, and the headers of its records. */
import { KeptTraces } from "@posthaste/testkit/kept-traces";
import { afterEach, beforeEach, expect, it } from "vitest";
import { RECEIVED_AT_MS, SOURCE, startTestGateway, type TestGateway } from "./test-gateway.ts";

const OURS = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const track = (messageId: string) => ({ type: "track", userId: "u", event: "Ordered", messageId });
const REFUSED = { type: "track", event: "Ordered" };

let traces: KeptTraces;
let gateway: TestGateway;

beforeEach(async () => {
  traces = new KeptTraces();
  gateway = await startTestGateway({ traces, acknowledgeTimeoutMs: 1 });
});

afterEach(() => gateway.close());

const headersSent = () =>
  gateway.producer.sent
    .filter(({ topic }) => topic !== "source-activity")
    .map(({ topic, headers }) => [topic, headers]);

it("gives the events of a request the request's span, and no record of a rejected call", async () => {
  const batch = { batch: [track("1"), REFUSED, track("2")] };
  expect((await gateway.post("/v1/batch", batch, { traceparent: OURS })).status).toBe(200);
  const [span] = traces.spans;
  const headers = { traceparent: span?.traceparent };
  expect(headersSent()).toEqual([
    ["events", headers],
    ["events", headers],
    ["rejected-calls", undefined],
  ]);
  expect(span).toEqual({
    ...{ name: "ingest", parent: OURS, link: undefined, startedAtMs: RECEIVED_AT_MS, isEnded: true, error: undefined },
    traceparent: span?.traceparent,
    attributes: { "posthaste.source_id": SOURCE.id, "posthaste.calls": 3, "posthaste.answer": "accepted" },
  });
});

it("ends the span of a call that the brokers did not acknowledge with that", async () => {
  gateway.producer.acknowledge = () => new Promise(() => {});
  expect((await gateway.post("/v1/track", track("1"))).status).toBe(503);
  expect(traces.spans).toMatchObject([
    { attributes: { "posthaste.answer": "unavailable" }, error: "not_acknowledged", isEnded: true },
  ]);
});

it("traces nobody without a key, and adds nothing to a record while traces are off", async () => {
  const stranger = await gateway.post("/v1/track", track("1"), { authorization: "Basic eDo=", traceparent: OURS });
  expect([stranger.status, traces.spans]).toEqual([401, []]);
  await gateway.close();
  gateway = await startTestGateway();
  expect((await gateway.post("/v1/track", track("1"), { traceparent: OURS })).status).toBe(200);
  expect(headersSent()).toEqual([["events", undefined]]);
});
