import { describe, expect, it } from "vitest";
import { PartitionQueue } from "./partition-queue.ts";
import { PartitionTroubles, type Trouble } from "./partition-troubles.ts";

const queueOf = (partition: number) => new PartitionQueue("t", partition, { maxRecords: 10, maxBytes: 1000 });

describe("a partition in trouble", () => {
  it("PT1: is tried again after a pause that grows, by itself", () => {
    const troubles = new PartitionTroubles();
    const [ill, well] = [queueOf(0), queueOf(1)];
    const dues = [1, 2, 3, 4, 5].map(() => troubles.failed(ill, false, 1000).dueAtMs);
    expect(dues).toEqual([1100, 1200, 1400, 1500, 1500]);
    expect([troubles.size, troubles.of(well), troubles.of(ill)?.failures]).toEqual([1, undefined, 5]);
    expect(troubles.nextStep(well, 0)).toBe("send");
    expect(troubles.nextStep(ill, 1499)).toEqual({ waitsUntilMs: 1500 });
    expect(troubles.nextStep(ill, 1500)).toBe("ask");
  });

  it("PT2: stays timed out until it succeeds, and its deadline doubles with each timeout, to a minute", () => {
    const troubles = new PartitionTroubles();
    const ill = queueOf(0);
    expect(troubles.deadlineMsOf(ill)).toBe(10_000);
    expect(troubles.failed(ill, false, 0)).toMatchObject({ isTimeout: false, deadlineMs: 10_000 });
    const after = [true, false, true, true].map((isTimeout) => troubles.failed(ill, isTimeout, 0));
    expect(after.map(({ deadlineMs }) => deadlineMs)).toEqual([20_000, 20_000, 40_000, 60_000]);
    expect(after.map(({ isTimeout }) => isTimeout)).toEqual([true, true, true, true]);
    expect(troubles.deadlineMsOf(ill)).toBe(60_000);
    troubles.succeeded(ill);
    expect([troubles.deadlineMsOf(ill), troubles.failed(ill, false, 0).failures]).toEqual([10_000, 1]);
  });

  it("PT3: is sent to when the brokers have said who leads, or after two seconds without an answer", () => {
    const troubles = new PartitionTroubles();
    const [ill, other] = [queueOf(0), queueOf(1)];
    troubles.failed(ill, false, 0);
    // Nobody waits for this one.
    troubles.asking()();
    expect(troubles.nextStep(ill, 100)).toBe("ask");
    troubles.asked([ill, other], 100);
    const answered = troubles.asking();
    expect(troubles.nextStep(ill, 2099)).toEqual({ waitsUntilMs: 2100 });
    expect(troubles.nextStep(ill, 2100)).toBe("send");
    answered();
    expect(troubles.nextStep(ill, 100)).toBe("send");
    // The answer to a question of before its last failure says nothing.
    troubles.failed(ill, false, 300);
    troubles.asked([ill], 400);
    const late = troubles.asking();
    troubles.failed(ill, false, 500);
    late();
    expect(troubles.nextStep(ill, 600)).toEqual({ waitsUntilMs: 900 });
  });

  it("is the last one in trouble, or not, when it succeeds", () => {
    const troubles = new PartitionTroubles();
    const [one, two] = [queueOf(0), queueOf(1)];
    expect(troubles.succeeded(one)).toBe(false);
    for (const each of [one, two]) troubles.failed(each, false, 0);
    expect([troubles.succeeded(one), troubles.succeeded(one), troubles.succeeded(two), troubles.size]).toEqual([
      false,
      false,
      true,
      0,
    ]);
  });

  it("is worth a line of the log where one of those that failed at once is", () => {
    const failing = (failures: number): Trouble => ({
      failures,
      isTimeout: false,
      deadlineMs: 0,
      dueAtMs: 0,
      leaders: "unasked",
    });
    expect(PartitionTroubles.isLogged([])).toBe(false);
    expect(PartitionTroubles.isLogged([failing(3), failing(1)])).toBe(true);
    expect(PartitionTroubles.isLogged([failing(3)])).toBe(false);
  });
});
