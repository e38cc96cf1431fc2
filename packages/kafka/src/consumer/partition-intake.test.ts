import { describe, expect, it, vi } from "vitest";
import { openIntake } from "../../test/open-intake.ts";

describe("the intake of a partition", () => {
  it("PI2: takes nothing before its place is known, and fetches from there", () => {
    const { intake, accept, asked, ran } = openIntake({}, false);
    expect([intake.isLocating, accept(0, 1), ran(), asked()]).toEqual([true, false, [], []]);
    expect([intake.commitPoint(true), intake.hasNothingToFetch]).toEqual([null, true]);
    intake.begin(3, null);
    expect([intake.isLocating, asked()]).toEqual([false, ["seek 3", "resume"]]);
    expect(accept(3, 1)).toBe(true);
    expect(ran()).toEqual([3]);
  });

  it("PI1: refuses once what was fetched from above, and passes over what it has had", () => {
    const { accept, asked, ran, intake } = openIntake();
    accept(0, 2);
    asked();
    expect([accept(0, 2), accept(1, 2), ran()]).toEqual([true, true, [0, 1, 2]]);
    expect([accept(5, 1), asked(), ran()]).toEqual([false, ["seek 3"], [0, 1, 2]]);
    // kafkajs went on behind a marker that is no record: there is nothing between.
    expect([accept(5, 1), asked(), ran()]).toEqual([true, [], [0, 1, 2, 5]]);
    expect(intake.endOffset).toBe(1000);
    expect([accept(9, 1), asked()]).toEqual([false, ["seek 6"]]);
  });

  it("C9: passes over offsets that hold no record where they begin at its place, and are at the end of a fetch", () => {
    const { intake, accept, finish } = openIntake();
    intake.skip(0, 4);
    expect(intake.committableOffset).toBe(5);
    intake.skip(7, 8);
    expect(intake.committableOffset).toBe(5);
    accept(5, 1, { lastOffset: 9 });
    expect(intake.committableOffset).toBe(5);
    finish(5);
    expect(intake.committableOffset).toBe(10);
    intake.freeze();
    intake.skip(10, 20);
    intake.keep();
    expect(intake.committableOffset).toBe(10);
  });

  it("PI3, C5: takes nothing in while it is frozen, and goes on where it stood", () => {
    const { intake, accept, asked, ran, finish, idle } = openIntake();
    accept(0, 5);
    asked();
    intake.freeze();
    expect([accept(5, 1), asked()]).toEqual([false, ["pause"]]);
    for (const offset of [0, 1, 2]) finish(offset);
    expect([idle(), ran()]).toEqual([0, [0, 1, 2, 3]]);
    finish(3);
    expect([idle(), ran()]).toEqual([1, [0, 1, 2, 3]]);
    intake.keep();
    expect([asked(), ran(), idle()]).toEqual([["seek 5", "resume"], [0, 1, 2, 3, 4], 1]);
    finish(4);
    expect(idle()).toBe(1);
  });

  it("PI3: starts nothing of what was taken in while it is frozen", () => {
    const { intake, accept, ran, finish, idle } = openIntake({ laneOf: () => "user" });
    accept(0, 3);
    intake.freeze();
    finish(0);
    expect([idle(), ran()]).toEqual([1, [0]]);
    intake.keep();
    expect(ran()).toEqual([0, 1]);
  });

  it("C5: pauses or resumes explicitly after a JOIN, whatever kafkajs remembers from before", () => {
    const locating = openIntake({}, false);
    locating.intake.freeze();
    locating.intake.keep();
    expect(locating.asked()).toEqual(["pause"]);
    const { intake, accept, asked } = openIntake();
    accept(0, 9);
    asked();
    intake.freeze();
    intake.keep();
    expect(asked()).toEqual(["seek 9", "pause"]);
  });

  it("takes nothing any more and commits nothing when it was given up", () => {
    const { intake, accept, asked, ran, finish } = openIntake();
    accept(0, 6);
    asked();
    intake.revoke();
    finish(0);
    intake.release();
    expect([accept(6, 1), ran(), asked()]).toEqual([false, [0, 1, 2, 3], []]);
    expect([intake.commitPoint(true), intake.window.isRevoked, intake.isLocating]).toEqual([null, true, false]);
  });

  it("knows what is left to fetch and how old the oldest is that is not finished", () => {
    const { intake, accept, finish } = openIntake();
    expect([intake.oldestUnfinishedMs, intake.endOffset, intake.hasNothingToFetch]).toEqual([null, 0, true]);
    intake.noteEnd(3);
    intake.noteEnd(2);
    expect([intake.endOffset, intake.hasNothingToFetch]).toEqual([3, false]);
    accept(0, 3, { end: 3, timestamp: "42" });
    expect([intake.oldestUnfinishedMs, intake.hasNothingToFetch, intake.running]).toEqual([42, true, 3]);
    for (const offset of [0, 1, 2]) finish(offset);
    expect(intake.oldestUnfinishedMs).toBeNull();
    accept(3, 2, { end: 0 });
    expect(intake.endOffset).toBe(5);
  });

  it("C7: has nothing to fetch while its partition has no leader, so that its group does not count as stalled", () => {
    const { intake } = openIntake();
    intake.noteEnd(5);
    expect(intake.hasNothingToFetch).toBe(false);
    intake.noteLeader(false);
    expect(intake.hasNothingToFetch).toBe(true);
    intake.noteLeader(true);
    expect(intake.hasNothingToFetch).toBe(false);
  });
});

describe("a partition of a retry topic", () => {
  it("W1, W3: keeps only its head's time, fetches nothing until it is due, and then the head again", async () => {
    vi.useFakeTimers();
    try {
      const released: number[] = [];
      const { intake, accept, asked, ran } = openIntake({
        delayMsOf: () => 1000,
        onReleased: (_, latenessMs) => void released.push(latenessMs),
      });
      asked();
      const timestamp = String(performance.now());
      expect(accept(0, 3, { timestamp })).toBe(true);
      expect([ran(), asked(), intake.oldestUnfinishedMs]).toEqual([[], ["seek 0", "pause"], Number(timestamp)]);
      expect([intake.hasNothingToFetch, intake.committableOffset]).toEqual([true, 0]);
      await vi.advanceTimersByTimeAsync(1000);
      expect([asked(), ran()]).toEqual([["resume"], []]);
      await vi.advanceTimersByTimeAsync(5);
      expect(accept(0, 3, { timestamp })).toBe(true);
      expect([ran(), released]).toEqual([
        [0, 1, 2],
        [5, 5, 5],
      ]);
      intake.revoke();
      await vi.advanceTimersByTimeAsync(5000);
      expect(asked()).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });
});
