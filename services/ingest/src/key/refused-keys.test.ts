import { beforeEach, describe, expect, it } from "vitest";
import { createRefusedKeys, type RefusedKeys } from "./refused-keys.ts";

const TIMES = 10;
const HELD = 4_096;

let nowMs: number;
let keys: RefusedKeys<string>;
beforeEach(() => {
  nowMs = 0;
  keys = createRefusedKeys(() => nowMs);
});
const refuse = (key: string, times: number, refused = "no") => {
  for (let time = 0; time < times; time++) keys.note(key, refused, 1);
};

describe("a key that was refused", () => {
  it("is remembered from its tenth refusal in a second to that second's end, with the last reason (RK1)", () => {
    refuse("a", TIMES - 1, "unknown");
    expect(keys.find("a", 1)).toBeUndefined();
    refuse("a", 1, "disabled");
    expect(keys.find("a", 1)).toBe("disabled");
    expect(keys.find("b", 1)).toBeUndefined();
    nowMs = 999;
    expect(keys.find("a", 1)).toBe("disabled");
    nowMs = 1_000;
    expect(keys.find("a", 1)).toBeUndefined();
    refuse("a", TIMES - 1);
    expect(keys.find("a", 1)).toBeUndefined();
  });

  it("is forgotten with all others when the table of sources changes (RK2)", () => {
    refuse("a", TIMES);
    expect(keys.find("a", 2)).toBeUndefined();
    expect(keys.find("a", 2)).toBeUndefined();
  });

  it("gives way when thousands were refused after it, and not when it was refused again since (RK3)", () => {
    refuse("again", 1);
    refuse("oldest", TIMES);
    nowMs = 1_000;
    refuse("again", TIMES);
    refuse("second", TIMES);
    for (let other = 0; other < HELD - 2; other++) refuse(`other ${other}`, 1);
    expect([keys.find("again", 1), keys.find("second", 1)]).toEqual(["no", "no"]);
    refuse("one more", 1);
    expect([keys.find("again", 1), keys.find("second", 1)]).toEqual([undefined, "no"]);
  });
});
