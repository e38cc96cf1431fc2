import type { Codec } from "@posthaste/contracts/codec";
import { encodeProgress, REPUBLISHED_AT_HEADER } from "@posthaste/contracts/headers";
import { type Delivery, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import { NO_TOPIC_GENERATION } from "@posthaste/core/delivery/origin";
import { PosthasteError } from "@posthaste/core/errors";
import { describe, expect, it } from "vitest";
import { type Return, readDelivery } from "./incoming-delivery.ts";

const progress = { ...NO_PROGRESS, urls: ["https://b.example/"] };

function take(originIncarnation: number, returned: Return | null) {
  const delivery = { originIncarnation } as Delivery;
  const codec: Codec<Delivery> = { encode: () => Buffer.of(), decode: () => delivery, prefetch: () => undefined };
  const record = { topic: "deliveries", partition: 0, offset: 7, timestampMs: 0, key: null, value: Buffer.of(1) };
  return readDelivery(codec, { ...record, headers: encodeProgress(progress) }, returned, () => null);
}

it("a delivery knows at its intake whether its destination turns it away", () => {
  const asked: string[] = [];
  const delivery = { destinationId: "dst", originIncarnation: 3 } as Delivery;
  const codec: Codec<Delivery> = { encode: () => Buffer.of(), decode: () => delivery, prefetch: () => undefined };
  const record = { topic: "deliveries", partition: 0, offset: 7, timestampMs: 0, key: null, value: Buffer.of(1) };
  const intake = readDelivery(codec, { ...record, headers: {} }, null, (destinationId) => {
    asked.push(destinationId);
    return "concurrency_limit";
  });
  expect([intake.deferralOnArrival, asked]).toEqual(["concurrency_limit", ["dst"]]);
});

it("what no schema reads, or has no value, is no delivery and turned away by nobody", () => {
  const record = { topic: "deliveries", partition: 0, offset: 7, timestampMs: 0, key: null, headers: {} };
  const decode = (value: Buffer): Delivery => {
    if (value.length === 0) throw new PosthasteError("invalid_input", "unreadable");
    return { originIncarnation: 3, destinationId: "dst" } as Delivery;
  };
  const codec: Codec<Delivery> = { encode: () => Buffer.of(), decode, prefetch: () => undefined };
  const deferralOnArrival = () => "concurrency_limit" as const;
  for (const value of [Buffer.of(), null]) {
    expect(readDelivery(codec, { ...record, value }, null, deferralOnArrival)).toMatchObject({
      ...{ delivery: null, deferralOnArrival: null, progress: NO_PROGRESS, unreadable: { code: "invalid_input" } },
    });
  }
  const read = readDelivery(codec, { ...record, value: Buffer.of(1) }, null, deferralOnArrival);
  expect(read.unreadable).toBeNull();
});

describe("the progress of a delivery", () => {
  it("W5: waits no longer for a receiver that asked for it where this process's clock is an hour behind", () => {
    const delivery = { originIncarnation: 3 } as Delivery;
    const codec: Codec<Delivery> = { encode: () => Buffer.of(), decode: () => delivery, prefetch: () => undefined };
    const headers = {
      ...encodeProgress({ ...NO_PROGRESS, notBeforeMs: 3_645_000 }),
      [REPUBLISHED_AT_HEADER]: "3600000",
    };
    const record = { topic: "retry", partition: 0, offset: 7, timestampMs: 0, key: null, value: Buffer.of(1), headers };
    const read = readDelivery(codec, record, { delayMs: 30_000, nowMs: 30_000 }, () => null);
    expect(read.progress.notBeforeMs).toBe(45_000);
  });

  it("is read from the headers of a record that returns, and of one that was replayed", () => {
    expect(take(3, { delayMs: 10_000, nowMs: 0 }).progress).toEqual(progress);
    expect(take(NO_TOPIC_GENERATION, null).progress).toEqual(progress);
  });

  it("is none for a record that the router wrote, whatever stands beside it", () => {
    expect(take(3, null).progress).toBe(NO_PROGRESS);
  });
});
