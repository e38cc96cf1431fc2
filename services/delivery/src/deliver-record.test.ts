import { type Delivery, type DeliveryProgress, NO_PROGRESS } from "@posthaste/core/delivery";
import type { Destination } from "@posthaste/core/destination";
import { DEFAULT_ROOM } from "@posthaste/core/destination-room";
import { SILENT_LOG } from "@posthaste/core/log";
import type { Task } from "@posthaste/kafka/window";
import { Registry } from "prom-client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Deliverer, type DelivererParts } from "./deliver-record.ts";
import { DueGate } from "./due-gate.ts";
import type { FollowUp } from "./follow-up.ts";
import { Isolation } from "./isolation.ts";
import { createDeliveryMetrics } from "./metrics.ts";
import type { Intake } from "./pending.ts";

const DESTINATION = {
  id: "dst",
  revision: 1,
  enabled: true,
  rateLimitPerSecond: null,
  missingKeyIds: null,
  urls: [
    { url: "https://a.example/", headers: {} },
    { url: "https://b.example/", headers: {} },
  ],
} as unknown as Destination;

let isolation: Isolation;
let deliverer: Deliverer;
let published: FollowUp[];
let attempted: (readonly string[] | null | undefined)[];
let random: number;

/** A record of a retry topic; what is not looked at is left out. */
function returning(
  offset: number,
  handedOffFrom: string,
  progress: Partial<DeliveryProgress>,
  records = 1,
): Task<Intake> {
  const delivery = {
    destinationId: "dst",
    configOffset: 0,
    messageId: "m",
    body: Buffer.alloc(0),
  } as Partial<Delivery>;
  return {
    item: { delivery, returning: true, turnedAway: null, handedOffFrom, progress: { ...NO_PROGRESS, ...progress } },
    record: { topic: "retry-10s", partition: 0, offset },
    window: { isRevoked: false, isFull: false, records, maxRecords: 500, heldBy: () => 1 },
    finish: () => undefined,
  } as unknown as Task<Intake>;
}

beforeEach(() => {
  vi.useFakeTimers();
  attempted = [];
  random = 0;
  published = [];
  isolation = new Isolation({
    settings: DEFAULT_ROOM,
    connections: 4096,
    monotonicMs: () => 0,
    send: (turn) => deliverer.send(turn),
    putOff: (pending, cause, notBeforeMs) => deliverer.putOff(pending, cause, notBeforeMs),
  });
  deliverer = new Deliverer({
    destinations: { appliedOffset: 0, get: () => DESTINATION },
    sender: {
      attempt: ({ urls }: { readonly urls?: readonly string[] | null }) => {
        attempted.push(urls);
      },
    },
    isolation,
    followUps: { publish: (_: unknown, followUps: readonly FollowUp[]) => published.push(...followUps) },
    dueGate: new DueGate(),
    schedule: { delaysMs: [10_000], windowMs: 60_000 },
    metrics: createDeliveryMetrics(new Registry(), ["retry-10s"]),
    clock: { nowMs: () => 1_000_000, monotonicMs: () => 0 },
    random: () => random,
    delayMsOf: () => 10_000,
    log: SILENT_LOG,
    onFailure: (reason: Error) => {
      throw reason;
    },
  } as unknown as DelivererParts);
});

afterEach(() => {
  isolation.close();
  vi.useRealTimers();
});

function run(task: Task<Intake>): void {
  deliverer.run(task);
  vi.advanceTimersByTime(1);
}

describe("a returning delivery", () => {
  it("W6: is dropped as a second copy of its hand-off", () => {
    run(returning(0, "deliveries/0/7/0", {}));
    run(returning(1, "deliveries/0/7/0", {}));
    expect(attempted).toEqual([null]);
  });

  it("W6: is no second copy when it serves other URLs: the attempt that was repeated failed elsewhere", () => {
    run(returning(0, "deliveries/0/7/0", { urls: ["https://a.example/"] }));
    run(returning(1, "deliveries/0/7/0", { urls: ["https://b.example/"] }));
    expect(attempted).toEqual([["https://a.example/"], ["https://b.example/"]]);
  });

  it("W6: waits for its jitter, but not in a window that is full, where others would wait behind it", () => {
    random = 0.9;
    run(returning(0, "deliveries/0/7/0", {}));
    expect(attempted).toHaveLength(0);
    run(returning(1, "deliveries/0/8/0", {}, 500));
    expect(attempted).toHaveLength(1);
    vi.advanceTimersByTime(900);
    expect(attempted).toHaveLength(2);
  });

  it("I1: is put off and never attempted when it was turned away, for it did not take its turn", () => {
    const task = returning(0, "deliveries/0/7/0", {});
    run({ ...task, item: { ...task.item, turnedAway: "window_full" } });
    expect(attempted).toEqual([]);
    expect(published).toMatchObject([{ kind: "retry", delayMs: 10_000, progress: { putOffs: 1 } }]);
  });

  it("C4: is neither put off nor attempted when its partition was given up", () => {
    const task = returning(0, "deliveries/0/7/0", { notBeforeMs: 1_050_000 });
    const lost = { ...task, window: { ...task.window, isRevoked: true } };
    const { delivery, progress } = task.item;
    if (delivery === null) throw new Error("there is no delivery");
    const pending = { task: lost, delivery, progress, returning: true, destination: DESTINATION, requests: 2 };
    deliverer.putOff(pending, "no_room", null);
    expect([attempted, published]).toEqual([[], []]);
    deliverer.putOff({ ...pending, task }, "no_room", null);
    expect(published).toMatchObject([{ kind: "retry" }]);
  });

  it("becomes a dead letter when the destination has none of its URLs any more", () => {
    run(returning(0, "deliveries/0/7/0", { urls: ["https://was.example/"] }));
    expect(attempted).toEqual([]);
    expect(published).toMatchObject([{ kind: "dead_letter", reason: "destination_removed" }]);
  });

  it("I2: counts once among those that wait, however often it is put off until its not-before", () => {
    isolation.wentAway("dst");
    for (let offset = 0; offset < 5; offset++) {
      run(returning(offset, `retry-10s/0/${offset}/0`, { notBeforeMs: 1_050_000 }));
    }
    expect(isolation.awayOf("dst")).toBe(1);
  });
});
