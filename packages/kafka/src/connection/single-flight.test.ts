import { describe, expect, it } from "vitest";
import { singleFlight } from "./single-flight.ts";

/** Questions whose answers the test gives. */
function createQuestions() {
  const out: PromiseWithResolvers<string>[] = [];
  const ask = singleFlight(() => {
    const question = Promise.withResolvers<string>();
    out.push(question);
    return question.promise;
  });
  return { out, ask };
}

describe("a shared question", () => {
  it("goes out at once for the first asker", async () => {
    const { out, ask } = createQuestions();
    const answer = ask();
    out[0]?.resolve("first");
    expect(await answer).toBe("first");
  });

  it("is asked once more for all who asked while it was out", async () => {
    const { out, ask } = createQuestions();
    const first = ask();
    const later = [ask(), ask(), ask()];
    expect(out).toHaveLength(1);
    out[0]?.resolve("first");
    expect(await first).toBe("first");
    await Promise.resolve();
    expect(out).toHaveLength(2);
    out[1]?.resolve("second");
    expect(await Promise.all(later)).toEqual(["second", "second", "second"]);
  });

  it("is asked again after a failure, which only its own askers see", async () => {
    const { out, ask } = createQuestions();
    const first = ask();
    const second = ask();
    out[0]?.reject(new Error("no answer"));
    await expect(first).rejects.toThrow("no answer");
    await Promise.resolve();
    out[1]?.resolve("second");
    expect(await second).toBe("second");
  });

  it("has one run out at a time, also where an asker asks again at the end of its run while others wait", async () => {
    const { out, ask } = createQuestions();
    let again: Promise<string> | undefined;
    const first = ask().then(() => {
      again = ask();
    });
    const waiting = ask();
    out[0]?.resolve("first");
    await first;
    await expect.poll(() => out.length).toBe(2);
    out[1]?.resolve("second");
    expect(await Promise.all([waiting, again])).toEqual(["second", "second"]);
    expect(out).toHaveLength(2);
  });
});
