/** Writes the health of destinations as delivery processes report it. */
import { destinationHealthKey, processHealthKey } from "@posthaste/contracts/health-keys";
import type { DestinationHealth, HealthOfUrl, HealthRecord, ProcessHealth } from "@posthaste/core/health/health-record";
import { LATENCY_BUCKETS } from "@posthaste/core/health/latency-counts";
import type { TestTopics } from "@posthaste/testbed/test-topics";

export interface HealthWriter {
  /** Of a destination, at this moment since the epoch; now when left out. */
  readonly say: (
    instance: string,
    destinationId: string,
    health: Partial<DestinationHealth>,
    atMs?: number,
  ) => Promise<void>;
  readonly sayProcess: (instance: string, process?: Partial<ProcessHealth>, atMs?: number) => Promise<void>;
}

/** The report of a process that counted nothing. */
export const NO_HEALTH: DestinationHealth = {
  ...{ countedSinceMs: 0, delivered: 0, retryable: 0, permanent: 0, deferred: {} },
  latencies: new Array(LATENCY_BUCKETS).fill(0),
  ...{ deliveredAtMs: null, failedAtMs: null, failingSinceMs: null, recoveredAtMs: null, waiting: 0, urls: [] },
  failures: [],
};

export const PROCESS: ProcessHealth = {
  ...{ startedAtMs: 1, retryDelaysMs: [10_000, 30_000], retryWindowMs: 14_400_000, windowRecords: 2000 },
  ...{ logsFailures: true, loggedShare: 1 },
};

/** A URL that answers. */
export function urlHealth(url: string, over: Partial<HealthOfUrl> = {}): HealthOfUrl {
  const well = { breaker: "closed", openSinceMs: null, nextProbeMs: null, notBeforeMs: null, inFlight: 0 } as const;
  return { url, ...well, answer: null, ...over };
}

export async function createHealthWriter({ names, openCodec, producer }: TestTopics): Promise<HealthWriter> {
  const codec = await openCodec<HealthRecord>("destination-health");
  const write = (key: string, record: HealthRecord) =>
    producer.send([{ topic: names.destinationHealth, key, value: codec.encode(record) }]);
  return {
    say: (instance, destinationId, health, atMs = Date.now()) =>
      write(destinationHealthKey(destinationId, instance), {
        ...{ instance, writtenAtMs: atMs, destinationId, process: null },
        destination: { ...NO_HEALTH, countedSinceMs: atMs - 1000, ...health },
      }),
    sayProcess: (instance, process = {}, atMs = Date.now()) =>
      write(processHealthKey(instance), {
        ...{ instance, writtenAtMs: atMs, destinationId: null, destination: null },
        process: { ...PROCESS, ...process },
      }),
  };
}
