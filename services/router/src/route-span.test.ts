import { testEvent } from "@posthaste/testbed/test-event";
import { KeptTraces } from "@posthaste/testkit/kept-traces";
import { expect, it } from "vitest";
import { sendTraced, traceUnrouted } from "./route-span.ts";

const CALL = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const event = testEvent("m1", { sourceId: "s1" });
const record = { topic: "events", partition: 0, offset: 9, timestampMs: 0, key: null, value: null };
const traced = { ...record, headers: { traceparent: CALL } };

it("gives each delivery the span of its event, which ends when the brokers have them", async () => {
  const traces = new KeptTraces();
  const acknowledged = Promise.withResolvers<void>();
  const sent: unknown[] = [];
  const routed = ["d1", "d2"].map((key) => ({ topic: "deliveries", key, value: null }));
  const send = (records: readonly object[]) => {
    sent.push(...records);
    return acknowledged.promise;
  };
  const sending = sendTraced(traces, event, { record: traced, routed, send });
  const [span] = traces.spans;
  expect(sent).toEqual(routed.map((each) => ({ ...each, headers: { traceparent: span?.traceparent } })));
  expect(span).toMatchObject({ name: "route", parent: CALL, isEnded: false });
  acknowledged.resolve();
  await sending;
  expect(span).toMatchObject({ isEnded: true, error: undefined });
  expect(span?.attributes).toEqual({
    ...{ "posthaste.message_id": "m1", "posthaste.source_id": "s1", "posthaste.type": event.type },
    ...{ "posthaste.outcome": "routed", "posthaste.deliveries": 2 },
  });
});

it("fails as the send does, and leaves the span without an end", async () => {
  const traces = new KeptTraces();
  const send = () => Promise.reject(new Error("closed"));
  await expect(sendTraced(traces, event, { record: traced, routed: [], send })).rejects.toThrow("closed");
  expect(traces.spans).toMatchObject([{ isEnded: false }]);
});

it("says why an event became no delivery", () => {
  const traces = new KeptTraces();
  traceUnrouted(traces, event, { record: { ...record, headers: {} }, cause: "duplicate" });
  expect(traces.spans).toMatchObject([
    { name: "route", parent: undefined, attributes: { "posthaste.outcome": "duplicate" }, isEnded: true },
  ]);
});
