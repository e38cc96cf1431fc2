/** A producer over brokers that a test scripts. */
import { SILENT_LOG } from "@posthaste/core/log";
import kafkajs from "kafkajs";
import { Registry } from "prom-client";
import { afterEach, beforeEach, vi } from "vitest";
import { createKafkaMetrics } from "../src/connection/metrics.ts";
import type { PartitionLeaders } from "../src/producer/partition-leaders.ts";
import { GroupCommitProducer, type OutgoingRecord } from "../src/producer/producer.ts";
import { FakeBrokers, type Respond } from "./fake-brokers.ts";

export const connectionLost: Respond = async () => {
  throw new kafkajs.KafkaJSConnectionError("closed");
};

export let brokers: FakeBrokers;
export let producer: GroupCommitProducer;
export let registry: Registry;
/** The producer's log from `info` on. */
export let logged: Record<string, unknown>[];

/** To be called at the top of a test file: each of its tests has a producer and brokers of its own, over fake time. */
export function useProducer(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    brokers = new FakeBrokers();
    open();
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}

/** Another producer, which counts anew. */
export function open(leaders: PartitionLeaders = brokers.picture): void {
  registry = new Registry();
  logged = [];
  const say = (fields: Record<string, unknown>) => void logged.push(fields);
  const log = { ...SILENT_LOG, info: say, warn: say, error: say };
  producer = new GroupCommitProducer({
    name: "test",
    topics: ["t"],
    connection: { log, metrics: createKafkaMetrics(registry) },
    makeClient: brokers.makeClient,
    leaders,
  });
}

/** Another producer, whose partitions have these leaders from the start. */
export function openWith(...leaders: readonly (number | null)[]): void {
  brokers.leaders.splice(0, leaders.length, ...leaders);
  open();
}

export const record = (value: string, partition = 0): OutgoingRecord => ({
  topic: "t",
  key: null,
  value: Buffer.from(value),
  partition,
});
export const send = (value: string, partition = 0) => producer.send([record(value, partition)]);
export const turn = () => vi.advanceTimersByTimeAsync(0);

/** The calls that have settled, by their values. */
export function watch(...calls: readonly (readonly [value: string, sent: Promise<void>])[]): string[] {
  const settled: string[] = [];
  for (const [value, sent] of calls) {
    sent.then(
      () => settled.push(value),
      () => settled.push(`${value} rejected`),
    );
  }
  return settled;
}
