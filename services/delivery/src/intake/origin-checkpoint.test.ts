import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { createDeliveryMetrics } from "../metrics.ts";
import type { IncomingDelivery } from "./incoming-delivery.ts";
import { originCheckpoint } from "./origin-checkpoint.ts";

const PARTITIONS = 3000;
const longId = (partition: number) => `dst_${partition}_${"x".repeat(2000)}`;
const origin = (originPartition: number, destinationId: string) => ({
  ...{ originIncarnation: 7, originPartition, originOffset: 5_000_000_000 },
  destinationId,
});

async function opened() {
  const metrics = createDeliveryMetrics(new Registry(), []);
  const leftOut = async () => {
    const { values } = await metrics.droppedOrigins.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels.what, value]));
  };
  return { checkpoint: originCheckpoint(metrics), leftOut };
}

describe("the checkpoint of first attempts", () => {
  it("counts the destination ids that a commit had no space for, and by themselves the events partitions", async () => {
    const { checkpoint, leftOut } = await opened();
    const state = checkpoint.open(null);
    for (const partition of [1, 2, 3]) state.note(origin(partition, longId(partition)));
    expect(await leftOut()).toEqual({ entry: 0, destination: 0 });
    state.encode();
    expect(await leftOut()).toEqual({ entry: 0, destination: 2 });
    state.encode();
    expect(await leftOut()).toEqual({ entry: 0, destination: 4 });
    const many = checkpoint.open(null);
    for (let each = 0; each < PARTITIONS; each++) many.note(origin(each * 40, ""));
    const back = checkpoint.open(many.encode());
    const kept = Array.from({ length: PARTITIONS }, (_, each) => origin(each * 40, "")).filter((each) =>
      back.isRepeat(each),
    );
    expect(kept.length).toBeGreaterThan(100);
    expect(await leftOut()).toEqual({ entry: PARTITIONS - kept.length, destination: 4 + kept.length });
  });

  it("counts them too where it goes on from a commit", async () => {
    const { checkpoint, leftOut } = await opened();
    const before = checkpoint.open(null);
    before.note(origin(1, "a"));
    const state = checkpoint.open(before.encode());
    expect(state.isRepeat(origin(1, "a"))).toBe(true);
    for (const partition of [2, 3]) state.note(origin(partition, longId(partition)));
    state.encode();
    expect(await leftOut()).toEqual({ entry: 0, destination: 1 });
  });

  it("takes a record that no schema reads for no repeat", async () => {
    const { checkpoint } = await opened();
    const state = checkpoint.open(null);
    const unread = checkpoint.pick({ delivery: null } as IncomingDelivery);
    state.note(unread);
    expect([state.isRepeat(unread), state.encode()]).toEqual([false, ""]);
  });
});
