import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import type { KafkaConnection } from "../connection/connect.ts";
import { createKafkaMetrics } from "../connection/metrics.ts";
import { type Lagging, LagMeter, type LagMeterOptions } from "./lag.ts";

const NOW_MS = 1_000_000;

/** An owned partition whose lowest unfinished record was appended 90 s ago. */
function owned(topic: string, partition: number): Lagging {
  return {
    ...{ topic, partition, isLocating: false, committableOffset: 5, endOffset: 12 },
    oldestUnfinishedMs: NOW_MS - 90_000,
    window: { records: 3, bytes: 400 },
    noteEnd: () => undefined,
    noteLeader: () => undefined,
  };
}

function meter(all: () => readonly Lagging[], options: Partial<LagMeterOptions> = {}) {
  const registry = new Registry();
  const connection = { metrics: createKafkaMetrics(registry) } as unknown as KafkaConnection;
  const made = new LagMeter({
    ...{ connection, owned: all, groupId: "g", topics: ["t"], schemaWaitMs: () => 0 },
    clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
    ...options,
  });
  const page = async () => (await registry.metrics()).split("\n").filter((line) => /^posthaste_.*[}] /.test(line));
  return { made, page };
}

describe("the series of owned partitions", () => {
  it("have what is taken in and not finished, and how many the member owns", async () => {
    const { made, page } = meter(() => [owned("t", 4)], { schemaWaitMs: () => 61_000 });
    made.publish();
    expect(await page()).toEqual(
      expect.arrayContaining([
        'posthaste_unfinished_records{topic="t",partition="4"} 3',
        'posthaste_unfinished_bytes{topic="t",partition="4"} 400',
        'posthaste_partitions_owned{group="g"} 1',
        'posthaste_schema_wait_seconds{topic="t"} 61',
      ]),
    );
    expect((await page()).join()).not.toContain("overdue");
  });

  it("of a retry topic say for how long its lowest record has been due", async () => {
    const { made, page } = meter(() => [owned("t", 4)], { delayMsOf: () => 60_000 });
    made.publish();
    expect(await page()).toContain('posthaste_retry_overdue_seconds{topic="t",partition="4"} 30');
    const { made: early, page: pageOfEarly } = meter(() => [owned("t", 4)], { delayMsOf: () => 120_000 });
    early.publish();
    expect(await pageOfEarly()).toContain('posthaste_retry_overdue_seconds{topic="t",partition="4"} 0');
  });

  it("end with the assignment", async () => {
    let all = [owned("t", 4)];
    const { made, page } = meter(() => all, { delayMsOf: () => 1 });
    made.publish();
    const lost = all;
    all = [];
    made.forget(lost);
    made.publish();
    expect(await page()).toEqual(
      ['posthaste_schema_wait_seconds{topic="t"} 0', 'posthaste_partitions_owned{group="g"} 0'].sort(),
    );
  });
});
