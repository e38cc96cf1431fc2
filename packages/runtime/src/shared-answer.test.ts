import { setImmediate as settled } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { SharedAnswer } from "./shared-answer.ts";

/** Answers that the test ends one by one, on a clock and with rests of the test's own. */
function startAnswers() {
  let nowMs = 0;
  const made: PromiseWithResolvers<string>[] = [];
  const rests: { readonly ms: number; readonly end: () => void }[] = [];
  const shared = new SharedAnswer({
    make: () => {
      const answer = Promise.withResolvers<string>();
      made.push(answer);
      return answer.promise;
    },
    now: () => nowMs,
    rest: (ms) => new Promise<void>((end) => rests.push({ ms, end })),
  });
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { shared, made, rests, pass };
}

describe("an answer for all that ask at a time", () => {
  it("OA1: is made once for the calls before it begins, and anew for all that come meanwhile", async () => {
    const { shared, made, rests } = startAnswers();
    const first = [shared.ask(), shared.ask()];
    await settled();
    const second = [shared.ask(), shared.ask()];
    await settled();
    expect(made).toHaveLength(1);
    made[0]?.resolve("first");
    expect(await Promise.all(first)).toEqual(["first", "first"]);
    rests[0]?.end();
    await settled();
    made[1]?.resolve("second");
    expect(await Promise.all(second)).toEqual(["second", "second"]);
  });

  it("OA2: rests nine times as long as it took and half a second at most, after a failure too", async () => {
    const { shared, made, rests, pass } = startAnswers();
    const failed = shared.ask();
    failed.catch(() => undefined);
    await settled();
    pass(2);
    made[0]?.reject(new Error("broken"));
    await expect(failed).rejects.toThrow("broken");
    const next = shared.ask();
    await settled();
    expect([made.length, rests.map(({ ms }) => ms)]).toEqual([1, [18]]);
    rests[0]?.end();
    await settled();
    pass(100);
    made[1]?.resolve("made");
    expect(await next).toBe("made");
    expect(rests.map(({ ms }) => ms)).toEqual([18, 500]);
  });
});
