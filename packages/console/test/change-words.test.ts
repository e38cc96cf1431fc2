/** What the overview says of a change, before the name of what was changed. */
import { describe, expect, it } from "vitest";
import { deedWords } from "../src/audit/change-words.ts";

describe("a change in words", () => {
  it.each([
    ["createSource", "made"],
    ["nameNextSecret", "named the next secret of"],
    ["switchSecret", "switched the secret of"],
    ["retireSecret", "retired the old secret of"],
    ["undoRotation", "undid a step of the secret's rotation of"],
    ["resendDelivery", "sent a delivery again, as"],
  ])("is told in the past: %s", (operation, words) => {
    expect(deedWords({ operation, changes: [] })).toBe(words);
  });
});
