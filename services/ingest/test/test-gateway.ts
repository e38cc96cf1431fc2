/**
 * A gateway over real sockets whose brokers are a list: the sent records are read from there, and acknowledged as a
 * test likes.
 */

import type { RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { Source } from "@posthaste/core/config/source";
import type { Event } from "@posthaste/core/event/event";
import { SILENT_LOG } from "@posthaste/core/log";
import type { OutgoingRecord, SendOptions } from "@posthaste/kafka/producer/producer";
import { Registry } from "prom-client";
import { type Gateway, type GatewayOptions, startGateway } from "../src/gateway.ts";
import { createWriteKeys, type WriteKeys } from "../src/key/write-keys.ts";

export const WRITE_KEY = "wk-test";
export const RECEIVED_AT_MS = Date.UTC(2026, 10, 21, 12);

/** Longer than a busy machine stands still: a record that a test acknowledges late is acknowledged. */
export const PATIENCE_MS = 60_000;

export const SOURCE: Source = {
  id: "src-test",
  revision: 1,
  name: "Test",
  kind: "server",
  enabled: true,
  writeKeys: [{ key: WRITE_KEY, expiresAtMs: null }],
  createdAtMs: 0,
  updatedAtMs: 0,
};

/** A producer that keeps its records; `acknowledge` decides when a send resolves. */
export interface FakeProducer {
  readonly sent: OutgoingRecord[];
  pendingBytes: number;
  /** The producer's state of every topic. */
  stalledForMs: number;
  stalledMs(topic: string): number;
  acknowledge: () => Promise<void>;
  /** The patience of the last send. */
  patienceMs: number | undefined;
  send(records: readonly OutgoingRecord[], options?: SendOptions): Promise<void>;
}

export interface TestGateway extends Gateway {
  readonly producer: FakeProducer;
  readonly writeKeys: WriteKeys;
  readonly registry: Registry;
  /** The events that were sent, in order. */
  events(): Event[];
  /** The records sent to the topic of rejected calls. */
  rejected(): RejectedCalls[];
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
}

export async function startTestGateway(options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const producer: FakeProducer = {
    sent: [],
    pendingBytes: 0,
    stalledForMs: 0,
    stalledMs: () => producer.stalledForMs,
    acknowledge: () => Promise.resolve(),
    patienceMs: undefined,
    send: (records, options) => {
      producer.sent.push(...records);
      producer.patienceMs = options?.patienceMs;
      return producer.acknowledge();
    },
  };
  const writeKeys = createWriteKeys();
  writeKeys.apply(SOURCE.id, SOURCE);
  const registry = new Registry();
  let made = 0;
  const gateway = await startGateway({
    host: "127.0.0.1",
    port: 0,
    trustedProxies: [],
    perSource: { calls: 1_000_000, bytes: 1_000_000_000 },
    maxPendingBytes: 1_000_000,
    acknowledgeTimeoutMs: PATIENCE_MS,
    writeKeys,
    refreshSources: () => Promise.resolve(),
    producer,
    encodeEvent: (event) => Buffer.from(JSON.stringify(event)),
    encodeRejectedCalls: (rejected) => Buffer.from(JSON.stringify(rejected)),
    encodeSourceActivity: (activity) => Buffer.from(JSON.stringify(activity)),
    names: { events: "events", rejectedCalls: "rejected-calls", sourceActivity: "source-activity" },
    clock: { nowMs: () => RECEIVED_AT_MS, monotonicMs: () => performance.now() },
    makeMessageId: () => `made-${++made}`,
    log: SILENT_LOG,
    registry,
    ...options,
  });
  const valuesOf = (topic: string) =>
    producer.sent.filter((record) => record.topic === topic).map(({ value }) => JSON.parse(String(value)));
  return {
    ...gateway,
    producer,
    writeKeys,
    registry,
    events: () => valuesOf("events") as Event[],
    rejected: () => valuesOf("rejected-calls") as RejectedCalls[],
    post: (path, body, headers = {}) =>
      fetch(gateway.url + path, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${WRITE_KEY}:`)}`, "content-type": "application/json", ...headers },
        body:
          typeof body === "string" || body instanceof Uint8Array
            ? new Uint8Array(Buffer.from(body))
            : JSON.stringify(body),
      }),
  };
}
