/** The spans of an installation with traces, held to the deliveries that a test made. */
import type { DeadLetter } from "@posthaste/core/delivery/dead-letter";
import type { ReceivedSpan } from "@posthaste/testkit/otlp-spans";
import { expect } from "vitest";

const messageOf = ({ attributes }: ReceivedSpan): string => String(attributes["posthaste.message_id"]);
const placeOf = ({ traceId, spanId }: ReceivedSpan): string => `${traceId}/${spanId}`;

export function spansOf(spans: readonly ReceivedSpan[], name: string): readonly ReceivedSpan[] {
  return spans.filter((span) => span.name === name);
}

/** Expects that one trace leads from the call of each event to its routing and to each of its attempts. */
export function expectTraced(spans: readonly ReceivedSpan[], deadLetters: readonly DeadLetter[]): void {
  const [calls, routes, attempts] = ["ingest", "route", "attempt"].map((name) => spansOf(spans, name));
  const services = new Set(spans.map(({ name, service }) => `${service} ${name}`));
  expect(services).toEqual(
    new Set(["posthaste-ingest ingest", "posthaste-router route", "posthaste-delivery attempt"]),
  );
  const ofCalls = new Set(calls?.map(placeOf));
  const ofRoutes = new Map(routes?.map((span) => [placeOf(span), span]));
  for (const route of ofRoutes.values()) expect(ofCalls).toContain(`${route.traceId}/${route.parentSpanId}`);
  const numbers = new Map<string, unknown[]>();
  for (const attempt of attempts ?? []) {
    const above = `${attempt.traceId}/${attempt.parentSpanId}`;
    expect([messageOf(attempt), attempt.links, attempt.isError]).toEqual([
      ...[messageOf(ofRoutes.get(above) ?? attempt), [above], true],
    ]);
    expect(ofRoutes.has(above)).toBe(true);
    const before = numbers.get(messageOf(attempt)) ?? [];
    numbers.set(messageOf(attempt), [...before, attempt.attributes["posthaste.attempt"]]);
  }
  for (const { messageId, attempts: made, history } of deadLetters) {
    const all = Array.from({ length: made }, (_, index) => index + 1);
    expect([messageId, numbers.get(messageId) ?? []]).toEqual([messageId, expect.arrayContaining(all)]);
    expect(history).toHaveLength(made);
  }
}

/** Expects that each replayed dead letter begins a trace that links to the trace of its attempts. */
export function expectReplaysTraced(spans: readonly ReceivedSpan[], count: number): void {
  const replays = spansOf(spans, "replay");
  expect(replays).toHaveLength(count);
  const before = new Map(spansOf(spans, "route").map((span) => [placeOf(span), messageOf(span)]));
  for (const replay of replays) {
    expect([replay.parentSpanId, replay.links.map((link) => before.get(link))]).toEqual(["", [messageOf(replay)]]);
    expect(replay.links[0]?.startsWith(replay.traceId)).toBe(false);
  }
}
