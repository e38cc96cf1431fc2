import { KeptTraces } from "@posthaste/testkit/kept-traces";
import { expect, it } from "vitest";
import { tracedAgain } from "./again-span.ts";

const OLD = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

it("begins a trace that links to the one before, and leaves the other headers", () => {
  const traces = new KeptTraces();
  const record = { topic: "deliveries", key: "k", value: null, headers: { attempts: "1" } };
  const terms = { name: "replay", replayId: "rpl_1", destinationId: "dst", messageId: "m" } as const;
  const sent = tracedAgain(traces, record, { ...terms, from: { headers: { traceparent: OLD } } });
  const [span] = traces.spans;
  expect(sent).toEqual({ ...record, headers: { attempts: "1", traceparent: span?.traceparent } });
  expect(span).toMatchObject({ name: "replay", parent: undefined, link: OLD, isEnded: true });
  expect(span?.attributes).toEqual({
    "posthaste.replay_id": "rpl_1",
    "posthaste.message_id": "m",
    "posthaste.destination_id": "dst",
  });
});
