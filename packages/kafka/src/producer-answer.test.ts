import { describe, expect, it } from "vitest";
import { acknowledgedBy } from "./producer-answer.ts";

describe("a produce answer (P3)", () => {
  it("acknowledges the partitions that it names without an error", () => {
    const isAcknowledged = acknowledgedBy([
      { topicName: "t", partition: 0, errorCode: 0 },
      { topicName: "u", partition: 1, errorCode: 0 },
    ]);
    expect([isAcknowledged("t", 0), isAcknowledged("u", 1)]).toEqual([true, true]);
  });

  it("acknowledges no partition that it does not name", () => {
    const isAcknowledged = acknowledgedBy([{ topicName: "t", partition: 0, errorCode: 0 }]);
    expect([isAcknowledged("t", 1), isAcknowledged("u", 0)]).toEqual([false, false]);
  });

  it("acknowledges no partition that it names with an error, also when it names it twice", () => {
    const isAcknowledged = acknowledgedBy([
      { topicName: "t", partition: 0, errorCode: 6 },
      { topicName: "t", partition: 1, errorCode: 6 },
      { topicName: "t", partition: 1, errorCode: 0 },
    ]);
    expect([isAcknowledged("t", 0), isAcknowledged("t", 1)]).toEqual([false, false]);
  });
});
