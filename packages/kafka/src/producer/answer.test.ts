import { describe, expect, it } from "vitest";
import { codesIn } from "./answer.ts";

describe("a produce answer (P3)", () => {
  it("tells the code of each partition that it names", () => {
    const codeOf = codesIn([
      { topicName: "t", partition: 0, errorCode: 0 },
      { topicName: "t", partition: 1, errorCode: 19 },
      { topicName: "u", partition: 1, errorCode: 0 },
    ]);
    expect([codeOf("t", 0), codeOf("t", 1), codeOf("u", 1)]).toEqual([0, 19, 0]);
  });

  it("tells nothing of a partition that it does not name", () => {
    const codeOf = codesIn([{ topicName: "t", partition: 0, errorCode: 0 }]);
    expect([codeOf("t", 1), codeOf("u", 0)]).toEqual([undefined, undefined]);
  });

  it.each([
    [6, 0],
    [0, 6],
  ])("takes a partition that it names twice, with %i and %i, for failed", (first, second) => {
    const codeOf = codesIn([first, second].map((errorCode) => ({ topicName: "t", partition: 0, errorCode })));
    expect(codeOf("t", 0)).toBe(6);
  });
});
