/** The whole service against the real broker and registry, with topics of its own, and their records. */
import { REVISION_HEADER } from "@posthaste/contracts/headers";
import type { TopicNames } from "@posthaste/contracts/topics";
import type { RejectedCalls } from "@posthaste/core/call/rejected-call";
import type { SourceActivity } from "@posthaste/core/call/source-activity";
import type { Source } from "@posthaste/core/config/source";
import type { Event } from "@posthaste/core/event/event";
import { SILENT_LOG } from "@posthaste/core/log";
import { createTestTopics } from "@posthaste/testbed/test-topics";
import { kafkaBrokers, schemaRegistryUrl } from "@posthaste/testkit/broker";
import { Registry } from "prom-client";
import { type Ingest, type IngestOptions, startIngest } from "../src/app.ts";
import { SOURCE } from "./test-gateway.ts";

export interface RealIngest extends Ingest {
  readonly names: TopicNames;
  /** Every event that stands in the topic so far, by partition in order. */
  readonly events: readonly Event[];
  readonly rejected: readonly RejectedCalls[];
  readonly activity: readonly SourceActivity[];
  /** Ends the service and leaves its topics. */
  readonly stopService: () => Promise<void>;
  /** Resolves when the brokers have the source; the service may not have read it yet. */
  saveSource(source: Source): Promise<void>;
}

/** Starts it with `SOURCE` configured; `stop` deletes the topics too. */
export async function startRealIngest(others: Pick<IngestOptions, "activityIntervalMs"> = {}): Promise<RealIngest> {
  const topics = await createTestTopics("ingest", { partitions: 3 });
  const { prefix, names, openCodec, producer, follow } = topics;
  const sourceCodec = await openCodec<Source>("source");
  const saveSource = (source: Source) =>
    producer.send([
      {
        topic: names.sourceConfig,
        key: source.id,
        value: sourceCodec.encode(source),
        headers: { [REVISION_HEADER]: String(source.revision) },
      },
    ]);
  await saveSource(SOURCE);

  const ingest = await startIngest({
    kafka: { brokers: kafkaBrokers() },
    schemaRegistry: { url: schemaRegistryUrl() },
    topicPrefix: prefix,
    host: "127.0.0.1",
    port: 0,
    trustedProxies: [],
    perSource: { calls: 1_000_000, bytes: 1_000_000_000 },
    maxPendingBytes: 64_000_000,
    log: SILENT_LOG,
    registry: new Registry(),
    traces: undefined,
    ...others,
  });

  const events: Event[] = [];
  const rejected: RejectedCalls[] = [];
  await follow<Event>(names.events, (event) => events.push(event));
  await follow<RejectedCalls>(names.rejectedCalls, (calls) => rejected.push(calls));
  const activity: SourceActivity[] = [];
  await follow<SourceActivity>(names.sourceActivity, (each) => activity.push(each));
  let stopping: Promise<void> | undefined;
  const stopService = () => {
    stopping ??= ingest.stop();
    return stopping;
  };

  return {
    ...ingest,
    names,
    events,
    rejected,
    activity,
    saveSource,
    stopService,
    stop: async () => {
      await stopService();
      await topics.remove();
    },
  };
}
