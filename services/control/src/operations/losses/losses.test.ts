import {
  type AcceptedLoss,
  acceptedLossKey,
  decodeAcceptedLoss,
  encodeAcceptedLoss,
} from "@posthaste/contracts/accepted-loss";
import { createTopicNames } from "@posthaste/contracts/topics";
import type { AttemptRecord, DeferralRecord } from "@posthaste/core/delivery/attempt-record";
import type { DeliveryVerdict } from "@posthaste/core/verdict/verdict";
import type { UnfinishedRange } from "@posthaste/pipeline/unfinished-range";
import { describe, expect, it } from "vitest";
import { tellDelivery } from "../../delivery-log/events/verdict-sentences.ts";
import { lossCheck } from "../../health/doctor/open-doctor.ts";
import { lossOf } from "./find-losses.ts";
import { createLostOf } from "./lost-delivery.ts";

const names = createTopicNames("posthaste");
const topic = `${names.retryPrefix}10s`;

const RANGE: UnfinishedRange = {
  ...{ topic, topicId: "id", partition: 3, start: 50, end: 90, finishedRuns: [] },
  deleted: { from: 20, records: 25 },
};
const ACCEPTED: AcceptedLoss = {
  ...{ topic, topicId: "id", partition: 3, from: 20, to: 50, records: 25, beforeMs: 5000, atMs: 9000 },
};

describe("a loss", () => {
  it("is the part of a log that was deleted before its group had finished it", () => {
    expect(lossOf(RANGE, [])).toEqual([{ topic, topicId: "id", partition: 3, from: 20, to: 50, records: 25 }]);
    expect(lossOf({ ...RANGE, deleted: null }, [])).toEqual([]);
  });

  it("is none once it was accepted, and what was deleted since is another", () => {
    expect(lossOf(RANGE, [ACCEPTED])).toEqual([]);
    expect(lossOf(RANGE, [{ ...ACCEPTED, partition: 2 }])).toHaveLength(1);
    expect(lossOf({ ...RANGE, start: 60 }, [ACCEPTED])).toMatchObject([{ from: 50, to: 60, records: 10 }]);
  });

  it("is named by the doctor with its partition, its offsets, how many they are and what to do", async () => {
    const [finding] = await lossCheck(async () => lossOf(RANGE, [])).look();
    expect(finding?.what).toContain(`${topic}/3, offsets 20 to 49 (25 deliveries at the most)`);
    expect(finding).toMatchObject({ state: "wrong", remedy: expect.stringContaining("posthaste topics accept-loss") });
    expect(await lossCheck(async () => []).look()).toEqual([]);
  });

  it("is read as it was written, and nothing else of the meta topic is taken for one", () => {
    const key = acceptedLossKey(ACCEPTED);
    expect(decodeAcceptedLoss(key, encodeAcceptedLoss(ACCEPTED).toString())).toEqual(ACCEPTED);
    for (const text of ["{}", "not JSON", "null", JSON.stringify({ ...ACCEPTED, to: "50" })]) {
      expect(decodeAcceptedLoss(key, text)).toBeNull();
    }
    expect(decodeAcceptedLoss("events-incarnation", encodeAcceptedLoss(ACCEPTED).toString())).toBeNull();
  });
});

describe("a delivery that waits", () => {
  const lostOf = createLostOf(names, () => [ACCEPTED]);
  const waiting: DeliveryVerdict = {
    ...{ cause: "waiting_retry", dueAtMs: 14_000, delayMs: 10_000, deadlineMs: 90_000, tries: 2, urls: null, last: [] },
  };
  const deferred: DeliveryVerdict = {
    ...{ cause: "deferred", deferredCause: "breaker_open", sinceMs: 4000, dueAtMs: null, deadlineMs: 90_000, tries: 0 },
  };
  const inPartition = (recordPartition: number | null) => ({
    attempts: [
      { startedAtMs: 3000, recordPartition: 1 },
      { startedAtMs: 3900, recordPartition },
    ] as AttemptRecord[],
    deferrals: [{ deferredAtMs: 2000, recordPartition: 2 }] as DeferralRecord[],
    deadLetters: [],
  });
  const LOST = { cause: "lost", topic, partition: 3, from: 20, to: 50, acceptedAtMs: 9000, tries: 2 };

  it("is lost where its retry topic lost the records of its partition that were written before the first one left", () => {
    expect(lostOf(waiting, inPartition(3), 14_000)).toEqual(LOST);
  });

  it.each<[string, DeliveryVerdict | null, number | null, number]>([
    ["before it is due", waiting, 3, 13_999],
    ["in another partition", waiting, 2, 14_000],
    ["in a partition that is not known", waiting, null, 14_000],
    ["in another retry topic", { ...waiting, delayMs: 30_000 }, 3, 90_000],
    ["when it was written after the first record that is left", { ...waiting, dueAtMs: 15_001 }, 3, 90_000],
    ["when it is known to be delivered", { cause: "delivered" } as DeliveryVerdict, 3, 90_000],
    ["when it was deferred and its window is not long over", deferred, 3, 149_999],
    [
      "when it was deferred after the first record that is left was written",
      { ...deferred, sinceMs: 5001 },
      3,
      200_000,
    ],
    ["when nothing is known of it", null, 3, 200_000],
  ])("is not lost %s", (_, verdict, partition, nowMs) => {
    expect(lostOf(verdict, inPartition(partition), nowMs)).toBeNull();
  });

  it("is lost once its window is long over, where it was deferred", () => {
    expect(lostOf(deferred, inPartition(3), 150_000)).toEqual({ ...LOST, tries: 0 });
  });

  it("is told to be lost, with the range, and by what it is found who accepted it", () => {
    const verdict = lostOf(waiting, inPartition(3), 14_000);
    if (verdict === null) throw new Error("it is not lost");
    const delivery = { destinationId: "dst_1" } as Parameters<typeof tellDelivery>[1];
    const { sentence, command } = tellDelivery(verdict, delivery, { source: (id) => id, destination: (id) => id });
    expect(sentence).toContain("Not delivered to dst_1: lost after 2 tries.");
    expect(sentence).toContain(`${topic}/3, offsets 20 to 49`);
    expect(command).toBe(`posthaste audit --target ${topic}/3`);
  });
});
