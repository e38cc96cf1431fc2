import { describe, expect, it } from "vitest";
import { Problem } from "./problem.ts";
import { WrongTokens } from "./wrong-tokens.ts";

function atClock() {
  let ms = 0;
  const wrong = new WrongTokens({ nowMs: () => ms, monotonicMs: () => ms });
  return {
    wrong,
    passMs: (by: number) => {
      ms += by;
    },
  };
}

/** Seconds to wait; null where the address may go on. */
function refusalOf(wrong: WrongTokens, address: string): string | null {
  try {
    wrong.assertFew(address);
    return null;
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== "too_many_requests") throw error;
    return error.headers["retry-after"] ?? "";
  }
}

describe("wrong tokens of an address", () => {
  it("are ten a minute, which begins with the first", () => {
    const { wrong, passMs } = atClock();
    for (let n = 0; n < 9; n += 1) wrong.note("a");
    passMs(20_500);
    expect(refusalOf(wrong, "a")).toBeNull();
    wrong.note("a");
    expect(refusalOf(wrong, "a")).toBe("40");
    passMs(39_499);
    expect(refusalOf(wrong, "a")).toBe("1");
    passMs(1);
    expect(refusalOf(wrong, "a")).toBeNull();
    wrong.note("a");
    expect(refusalOf(wrong, "a")).toBeNull();
  });

  it("are no other address's", () => {
    const { wrong } = atClock();
    for (let n = 0; n < 10; n += 1) wrong.note("a");
    expect([refusalOf(wrong, "a"), refusalOf(wrong, "b")]).toEqual(["60", null]);
  });

  it("are known of the newest 10,000 addresses", () => {
    const { wrong } = atClock();
    for (let n = 0; n < 10; n += 1) wrong.note("first");
    for (let n = 0; n < 9_999; n += 1) wrong.note(String(n));
    expect(refusalOf(wrong, "first")).toBe("60");
    wrong.note("one more");
    expect(refusalOf(wrong, "first")).toBeNull();
  });
});
