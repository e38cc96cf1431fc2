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
});
