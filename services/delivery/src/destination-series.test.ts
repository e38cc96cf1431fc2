import { Registry } from "prom-client";
import { beforeEach, describe, expect, it } from "vitest";
import { DestinationSeries, type DestinationState } from "./destination-series.ts";

const HOUR_MS = 3_600_000;
let registry: Registry;
let nowMs: number;

beforeEach(() => {
  registry = new Registry();
  nowMs = 0;
});

function series(cap: number, states: Readonly<Record<string, Partial<DestinationState>>> = {}): DestinationSeries {
  const made = new DestinationSeries({ registry, cap, monotonicMs: () => nowMs });
  const idle = { inFlight: 0, limit: 0, waiting: 0, isBreakerOpen: false };
  made.watch(() => Object.entries(states).map(([id, state]) => [id, { ...idle, ...state }] as const));
  return made;
}

/** The lines of the page that begin so, without the prefix. */
async function lines(name: string): Promise<readonly string[]> {
  const page = await registry.metrics();
  return page.split("\n").flatMap((line) => (line.startsWith(`posthaste_${name}{`) ? [line.slice(10)] : []));
}

describe("the metrics of destinations", () => {
  it("have a destination's settled attempts, its requests and its state", async () => {
    const made = series(2, { dst_1: { inFlight: 3, limit: 8, waiting: 5, isBreakerOpen: true } });
    made.settled("dst_1", "retryable");
    made.requested("dst_1", 400);
    expect(await lines("destination_deliveries_total")).toContain(
      'destination_deliveries_total{destination="dst_1",outcome="retryable"} 1',
    );
    expect((await lines("destination_request_seconds_bucket")).slice(0, 3)).toEqual([
      'destination_request_seconds_bucket{destination="dst_1",le="0.1"} 0',
      'destination_request_seconds_bucket{destination="dst_1",le="0.5"} 1',
      'destination_request_seconds_bucket{destination="dst_1",le="2"} 1',
    ]);
    for (const [name, value] of Object.entries({ in_flight: 3, limit: 8, waiting_records: 5, breaker_open: 1 })) {
      expect(await lines(`destination_${name}`)).toContain(`destination_${name}{destination="dst_1"} ${value}`);
    }
  });

  it("of more destinations than the cap are those of other, and how many these are", async () => {
    const made = series(1, { dst_1: { inFlight: 1 }, dst_2: { inFlight: 2 }, dst_3: { inFlight: 4 } });
    for (const id of ["dst_1", "dst_2", "dst_3"]) made.settled(id, "delivered");
    const settled = await lines("destination_deliveries_total");
    expect(settled).toContain('destination_deliveries_total{destination="dst_1",outcome="delivered"} 1');
    expect(settled).toContain('destination_deliveries_total{destination="other",outcome="delivered"} 2');
    expect(await lines("destination_in_flight")).toEqual([
      'destination_in_flight{destination="dst_1"} 1',
      'destination_in_flight{destination="other"} 6',
    ]);
    expect(await registry.metrics()).toContain("posthaste_destination_series_other 2");
  });

  it("are given up after an idle hour, to a destination with an open breaker before the busiest", async () => {
    const made = series(1, { dst_2: {}, dst_3: { isBreakerOpen: true } });
    made.settled("dst_1", "delivered");
    nowMs = HOUR_MS;
    made.settled("dst_2", "delivered");
    made.settled("dst_2", "delivered");
    made.settled("dst_3", "retryable");
    await registry.metrics();
    made.settled("dst_3", "retryable");
    expect(await lines("destination_deliveries_total")).toEqual([
      'destination_deliveries_total{destination="dst_3",outcome="delivered"} 0',
      'destination_deliveries_total{destination="dst_3",outcome="retryable"} 1',
      'destination_deliveries_total{destination="dst_3",outcome="permanent"} 0',
      // Its earlier counts stay there.
      'destination_deliveries_total{destination="other",outcome="delivered"} 2',
      'destination_deliveries_total{destination="other",outcome="retryable"} 1',
      'destination_deliveries_total{destination="other",outcome="permanent"} 0',
    ]);
  });

  it("stay a destination's while it is used", async () => {
    const made = series(1);
    made.settled("dst_1", "delivered");
    nowMs = HOUR_MS - 1;
    made.requested("dst_1", 1);
    made.settled("dst_2", "delivered");
    nowMs = HOUR_MS;
    expect(await lines("destination_in_flight")).toEqual([
      'destination_in_flight{destination="dst_1"} 0',
      'destination_in_flight{destination="other"} 0',
    ]);
  });
});
