import { SILENT_LOG } from "@posthaste/core/log";
import { createFakeClock, type FakeClock } from "@posthaste/testkit/clock";
import { Registry } from "prom-client";
import { beforeEach, describe, expect, it } from "vitest";
import { CanaryLedger, TICK_MS } from "./canary-ledger.ts";
import { createCanaryMetrics } from "./metrics.ts";

let registry: Registry;
let clock: FakeClock;
let ledger: CanaryLedger;
let warned: string[];

beforeEach(() => {
  registry = new Registry();
  clock = createFakeClock();
  warned = [];
  const log = { ...SILENT_LOG, warn: ({ event }: Readonly<Record<string, unknown>>) => warned.push(String(event)) };
  ledger = new CanaryLedger({ metrics: createCanaryMetrics(registry), monotonicMs: clock.monotonicMs, log });
});

async function counted(name: string): Promise<number | undefined> {
  const { values } = (await registry.getSingleMetric(`posthaste_canary_${name}_total`)?.get()) ?? { values: [] };
  return values[0]?.value;
}
const books = async () => Promise.all(["sent", "received", "late", "lost"].map(counted));

/** Lets `count` ticks pass. */
function ticks(count: number): void {
  for (let n = 0; n < count; n++) {
    clock.advance(TICK_MS);
    ledger.tick();
  }
}

function send(messageId: string): void {
  ledger.begin(messageId);
  ledger.answered(messageId, true);
}

describe("an event", () => {
  it("that comes back counts as sent and received, with its time", async () => {
    send("a");
    clock.advance(700);
    ledger.arrived("a");
    ticks(60);
    expect(await books()).toEqual([1, 1, 0, 0]);
    const page = await registry.metrics();
    expect(page).toContain("posthaste_canary_round_trip_seconds_sum 0.7\n");
    expect(page).toContain('posthaste_canary_round_trip_seconds_bucket{le="0.5"} 0\n');
  });

  it("CY1: without a 200 is neither sent nor lost, though it came", async () => {
    ledger.begin("a");
    ledger.begin("b");
    ledger.arrived("b");
    for (const id of ["a", "b"]) ledger.answered(id, false);
    ledger.arrived("a");
    ticks(60);
    expect(await books()).toEqual([0, 0, 0, 0]);
  });

  it("CY1: ages from ingest's answer on", async () => {
    ledger.begin("a");
    ticks(40);
    ledger.answered("a", true);
    ticks(6);
    expect(await books()).toEqual([1, 0, 0, 0]);
  });

  it("that comes before ingest's answer took the time until it came", async () => {
    ledger.begin("a");
    clock.advance(40);
    ledger.arrived("a");
    clock.advance(5000);
    ledger.answered("a", true);
    expect(await books()).toEqual([1, 1, 0, 0]);
    expect(await registry.metrics()).toContain("posthaste_canary_round_trip_seconds_sum 0.04\n");
  });

  it("is late once after a minute, and may still come", async () => {
    send("a");
    ticks(6);
    expect(await books()).toEqual([1, 0, 0, 0]);
    ticks(20);
    expect(await books()).toEqual([1, 0, 1, 0]);
    ledger.arrived("a");
    ticks(20);
    expect(await books()).toEqual([1, 1, 1, 0]);
  });

  it("is lost after five minutes, and that it came later is said and not counted", async () => {
    send("a");
    ticks(30);
    expect(await books()).toEqual([1, 0, 1, 0]);
    ticks(1);
    expect(await books()).toEqual([1, 0, 1, 1]);
    ledger.arrived("a");
    ledger.arrived("a");
    expect(await books()).toEqual([1, 0, 1, 1]);
    expect(warned).toEqual(["canary_late", "canary_found"]);
  });

  it("CY2: is not late for a clock that is set, or for a process that stood still", async () => {
    send("a");
    clock.step(3_600_000);
    ticks(1);
    clock.step(-7_200_000);
    clock.advance(3_600_000);
    ledger.tick();
    ledger.arrived("a");
    expect(await books()).toEqual([1, 1, 0, 0]);
  });

  it("CY3: counts once, however often it comes, and not at all where another run sent it", async () => {
    send("a");
    for (const id of ["a", "a", "of-another-run"]) ledger.arrived(id);
    expect(await books()).toEqual([1, 1, 0, 0]);
    expect(warned).toEqual([]);
  });
});
