import { settle } from "@posthaste/core/delivery/outcome";
import { KeptTraces } from "@posthaste/testkit/kept-traces";
import type { AttemptReport, UrlResult } from "@posthaste/webhook/report";
import { expect, it } from "vitest";
import type { CheckedDelivery } from "../check/checked-delivery.ts";
import { endAttemptSpan, startAttemptSpan } from "./attempt-span.ts";

const EVENT = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

function checked(traceparent: string | undefined): CheckedDelivery {
  const delivery = { messageId: "m", sourceId: "src", destinationId: "dst" };
  return { task: { item: { traceparent } }, delivery } as unknown as CheckedDelivery;
}

type Answered = Pick<UrlResult, "outcome" | "status" | "error">;

function report(...urls: readonly Answered[]): AttemptReport {
  const results = urls.map((each) => ({ ...each, url: "https://s3cret.example/", durationMs: 1, notBeforeMs: null }));
  return {
    settlement: settle("any", results),
    startedAtMs: 1,
    urls: results.map((each) => ({ ...each, answer: "no" })),
  };
}

it("XP1: is part of the event's trace and links to its span, and has no URL", () => {
  const traces = new KeptTraces();
  const span = startAttemptSpan(traces, checked(EVENT), 2);
  const refused = { outcome: "retryable", status: 503, error: null } as const;
  endAttemptSpan(span, report(refused, { outcome: "delivered", status: 204, error: null }));
  expect(traces.spans).toMatchObject([{ name: "attempt", parent: EVENT, link: EVENT, error: undefined }]);
  expect(traces.spans[0]?.attributes).toEqual({
    ...{ "posthaste.message_id": "m", "posthaste.source_id": "src", "posthaste.destination_id": "dst" },
    ...{ "posthaste.attempt": 2, "posthaste.outcome": "delivered", "posthaste.requests": 2 },
    "http.response.status_code": 204,
  });
  expect(JSON.stringify(traces.spans)).not.toContain("s3cret");
});

it("ends with the error of an attempt that did not deliver", () => {
  const traces = new KeptTraces();
  const end = (url: Answered) => endAttemptSpan(startAttemptSpan(traces, checked(EVENT), 1), report(url));
  end({ outcome: "retryable", status: null, error: "timeout" });
  end({ outcome: "permanent", status: 410, error: null });
  expect(traces.spans.map(({ error }) => error)).toEqual(["timeout", "410"]);
});

it("XP2: begins a trace for a delivery that came without one, and its retries belong to that", () => {
  const traces = new KeptTraces();
  const delivery = checked(undefined);
  startAttemptSpan(traces, delivery, 1);
  startAttemptSpan(traces, delivery, 2);
  const [first, second] = traces.spans;
  expect([first?.parent, second?.parent]).toEqual([undefined, first?.traceparent]);
});
