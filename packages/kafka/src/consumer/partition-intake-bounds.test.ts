/** Rules: PI2 of partition-intake.ts, WF1 and WF2 of window-fill.ts. */
import { describe, expect, it } from "vitest";
import { openIntake } from "../../test/open-intake.ts";

describe("how much a partition takes in", () => {
  it("PI2: fetches on while the backlog is less than half a window, and says once that the window is full", () => {
    const full: number[] = [];
    const { accept, asked, ran, finish } = openIntake({ onFull: ({ records }) => void full.push(records) });
    asked();
    accept(0, 6);
    expect([ran(), asked(), full]).toEqual([[0, 1, 2, 3], [], [4]]);
    accept(6, 1);
    expect([asked(), full]).toEqual([["pause"], [4]]);
    finish(2);
    expect([ran(), asked(), full]).toEqual([[0, 1, 2, 3, 4], ["resume"], [4]]);
    for (const offset of [0, 1, 3]) finish(offset);
    expect([ran(), full]).toEqual([[0, 1, 2, 3, 4, 5, 6], [4]]);
    accept(7, 4);
    expect(full).toEqual([4, 4]);
  });

  it("C11, PI2: takes in and fetches nothing under backpressure, goes on where it stood, asks before each record", () => {
    const ran: number[] = [];
    let space = 2;
    const { intake, accept, asked } = openIntake({
      window: { maxRecords: 10, maxBytes: 1000 },
      run: ({ item }) => {
        ran.push(item);
        space -= 1;
      },
      backpressure: {
        get isHolding() {
          return space <= 0;
        },
        onReleased: () => {},
      },
    });
    asked();
    accept(0, 5, { end: 5 });
    expect([ran, asked()]).toEqual([[0, 1], ["pause"]]);
    space = 1;
    intake.release();
    expect([ran.length, asked()]).toEqual([3, []]);
    space = 9;
    intake.release();
    expect([ran, asked()]).toEqual([[0, 1, 2, 3, 4], ["resume"]]);
  });

  it("PI2: fetches while backpressure holds as long as nothing of it waits", () => {
    const { accept, asked, ran } = openIntake({ backpressure: { isHolding: true, onReleased: () => {} } });
    expect(asked()).toEqual(["seek 0", "resume"]);
    accept(0, 1);
    expect([asked(), ran()]).toEqual([["pause"], []]);
  });

  describe("with a working set", () => {
    const RECORDS = 6;
    const openFilled = (isHeldUp: (owner: string) => boolean = () => false) =>
      openIntake({
        window: { maxRecords: 40, maxBytes: 1000 },
        ownerOf: (offset) => (offset < 2 ? "slow" : "quick"),
        workingSet: { records: RECORDS, leastShare: 1, isHeldUp, isBusy: () => true },
      });

    it("WF2: is filled with its share in a busy process, and fetches on while it has half of that", () => {
      const { intake, accept, asked, ran, finish } = openFilled();
      asked();
      intake.lookAtFill(true);
      accept(0, 9);
      expect([ran().length, asked()]).toEqual([RECORDS, []]);
      accept(9, 1);
      expect([ran().length, asked()]).toEqual([RECORDS, ["pause"]]);
      finish(2);
      expect([ran().length, asked()]).toEqual([RECORDS + 1, ["resume"]]);
    });

    it("WF1: is filled to its limits from the look on that finds the process with time left", () => {
      const { intake, accept, ran } = openFilled();
      intake.lookAtFill(true);
      accept(0, 50);
      expect(ran()).toHaveLength(RECORDS);
      intake.lookAtFill(false);
      expect(ran()).toHaveLength(40);
    });

    it("WF2: is filled to its limits from the look on that finds an owner held up", () => {
      let slow = false;
      const { intake, accept, ran } = openFilled((owner) => slow && owner === "slow");
      intake.lookAtFill(true);
      accept(0, 50);
      intake.lookAtFill(true);
      expect(ran()).toHaveLength(RECORDS);
      slow = true;
      intake.lookAtFill(true);
      expect(ran()).toHaveLength(40);
    });

    it("WF3: has space for other keys, however many records of one key wait in their lane", () => {
      const { accept, ran } = openIntake({
        window: { maxRecords: 40, maxBytes: 1000 },
        laneOf: (offset) => (offset < 20 ? "many" : `user-${offset}`),
        workingSet: { records: RECORDS, leastShare: 1, isHeldUp: () => false, isBusy: () => true },
      });
      accept(0, 50);
      expect(ran()).toEqual([0, 20, 21, 22, 23, 24]);
    });

    it("WF3: counts a record once it is the first of its lane", () => {
      const { accept, ran, finish } = openIntake({
        window: { maxRecords: 40, maxBytes: 1000 },
        laneOf: (offset) => `lane-${offset % 10}`,
        workingSet: { records: RECORDS, leastShare: 1, isHeldUp: () => false, isBusy: () => true },
      });
      accept(0, 50);
      expect(ran()).toEqual([0, 1, 2, 3, 4, 5]);
      finish(0);
      expect(ran()).toEqual([0, 1, 2, 3, 4, 5, 6]);
    });

    it("WF3: has no more space for others when a record that waited became the first of its lane", () => {
      const { accept, ran, finish } = openIntake({
        window: { maxRecords: 40, maxBytes: 1000 },
        laneOf: (offset) => (offset < 2 ? "two" : `user-${offset}`),
        workingSet: { records: RECORDS, leastShare: 1, isHeldUp: () => false, isBusy: () => true },
      });
      accept(0, 50);
      expect(ran()).toEqual([0, 2, 3, 4, 5, 6]);
      finish(0);
      expect(ran()).toEqual([0, 2, 3, 4, 5, 6, 1]);
    });

    it("is at rest once a look gave it its limits, while it holds no record, fetched ones included", () => {
      const { intake, accept, finish } = openFilled();
      expect(intake.isAtRest).toBe(false);
      intake.lookAtFill(false);
      expect(intake.isAtRest).toBe(true);
      accept(0, 1);
      expect(intake.isAtRest).toBe(false);
      finish(0);
      expect(intake.isAtRest).toBe(true);
      intake.lookAtFill(true);
      expect(intake.isAtRest).toBe(false);
      const held = openIntake({ backpressure: { isHolding: true, onReleased: () => {} } });
      held.intake.lookAtFill(false);
      held.accept(0, 1);
      expect([held.intake.window.records, held.intake.isAtRest]).toEqual([0, false]);
    });

    it("PI3: takes nothing in at a look while it is frozen", () => {
      const { intake, accept, ran } = openFilled();
      intake.lookAtFill(true);
      accept(0, 50);
      intake.freeze();
      intake.lookAtFill(false);
      expect(ran()).toHaveLength(RECORDS);
    });
  });
});
