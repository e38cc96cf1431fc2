/** The ingest service: it joins the gateway with the brokers. */

import { randomUUID } from "node:crypto";
import { createSourceCodec, type SourceRecord } from "@posthaste/contracts/source-codec";
import { createTopicNames } from "@posthaste/contracts/topics";
import type { RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { SourceActivity } from "@posthaste/core/call/source-activity";
import type { Source } from "@posthaste/core/config/source";
import type { Event } from "@posthaste/core/event/event";
import type { Log } from "@posthaste/core/log";
import { createOpenCodec } from "@posthaste/kafka/codec/registry";
import { connectKafka } from "@posthaste/kafka/connection/connect";
import { createKafkaMetrics } from "@posthaste/kafka/connection/metrics";
import { SYSTEM_CLOCK } from "@posthaste/kafka/connection/system-clock";
import { createTable, type TableOptions } from "@posthaste/kafka/log/table";
import { createProducer } from "@posthaste/kafka/producer/producer";
import type { KafkaAccess, RegistryAccess } from "@posthaste/runtime/connection-settings";
import type { Traces } from "@posthaste/runtime/traces";
import type { Registry } from "prom-client";
import type { Amount } from "./fairness/rate-limit.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import { createWriteKeys } from "./key/write-keys.ts";

export interface IngestOptions {
  readonly kafka: KafkaAccess;
  readonly schemaRegistry: RegistryAccess;
  readonly topicPrefix: string;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly trustedProxies: readonly string[];
  /** How much one source may send in a second. */
  readonly perSource: Amount;
  readonly maxPendingBytes: number;
  /** The time after which the table of sources counts as behind. */
  readonly table?: Pick<TableOptions<Source>, "behindLimitMs">;
  /** The time between two records of a source's activity, in place of ten seconds. */
  readonly activityIntervalMs?: number;
  readonly log: Log;
  readonly registry: Registry;
  /** Undefined while traces are off. */
  readonly traces: Traces | undefined;
}

export interface Ingest {
  readonly url: string;
  readonly readiness: () => Readonly<Record<string, true | string>>;
  /** Answers the requests that have begun, flushes, and closes, in this order. */
  readonly stop: () => Promise<void>;
}

/** While no partition of the events topic has taken anything for this long, the process is not ready. */
const READY_PENDING_MS = 5_000;

/** Starts the service. Resolves when it accepts calls, after the table of sources was read to its end. */
export async function startIngest(options: IngestOptions): Promise<Ingest> {
  const { log, registry } = options;
  const names = createTopicNames(options.topicPrefix);
  const metrics = createKafkaMetrics(registry);
  const openCodec = createOpenCodec({ ...options.schemaRegistry, names, log });
  const [eventCodec, rejectedCodec, activityCodec, rawSourceCodec] = await Promise.all([
    openCodec<Event>("event"),
    openCodec<RejectedCalls>("rejected-calls"),
    openCodec<SourceActivity>("source-activity"),
    openCodec<SourceRecord>("source"),
  ]);
  const sourceCodec = createSourceCodec(rawSourceCodec);
  const connection = connectKafka({ ...options.kafka, clientId: "posthaste-ingest", log, metrics });
  const writeKeys = createWriteKeys();
  const sources = await createTable<Source>(connection, {
    topic: names.sourceConfig,
    decode: sourceCodec.decode,
    prefetch: sourceCodec.prefetch,
    onChange: writeKeys.apply,
    ...options.table,
  });
  const topics = [names.events, names.rejectedCalls, names.sourceActivity];
  const producer = await createProducer(connection, { name: "ingest", topics });
  await sources.caughtUp();
  const gateway: Gateway = await startGateway({
    host: options.host,
    port: options.port,
    trustedProxies: options.trustedProxies,
    perSource: options.perSource,
    maxPendingBytes: options.maxPendingBytes,
    ...(options.activityIntervalMs === undefined ? {} : { activityIntervalMs: options.activityIntervalMs }),
    writeKeys,
    refreshSources: (timeoutMs) => sources.refresh(timeoutMs),
    producer,
    encodeEvent: eventCodec.encode,
    encodeRejectedCalls: rejectedCodec.encode,
    encodeSourceActivity: activityCodec.encode,
    names,
    clock: SYSTEM_CLOCK,
    makeMessageId: randomUUID,
    log,
    registry,
    traces: options.traces,
  });
  log.info({ event: "ingest_listening", url: gateway.url });

  return {
    url: gateway.url,
    readiness: () => ({
      brokers:
        producer.stalledMs(names.events) < READY_PENDING_MS
          ? connection.brokersState()
          : `no event was acknowledged for ${Math.round(producer.stalledMs(names.events))} ms`,
      tables: sources.state,
      ...gateway.readiness(),
    }),
    stop: async () => {
      await gateway.close();
      await producer.close();
      await sources.close();
      await connection.close();
    },
  };
}
