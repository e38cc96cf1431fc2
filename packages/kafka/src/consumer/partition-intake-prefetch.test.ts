/** Rule: PI2 of partition-intake.ts. */
import { PosthasteError } from "@posthaste/core/errors";
import { describe, expect, it } from "vitest";
import { messageAt, openIntake } from "../../test/open-intake.ts";

describe("a record that needs something prefetched", () => {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  it("PI2: holds its partition up until the prefetch is done, and is then prefetched anew", async () => {
    const known = Promise.withResolvers<void>();
    const learnt: number[] = [];
    let isKnown = false;
    const { accept, asked, ran, intake } = openIntake({
      prefetch: ({ offset }) => {
        learnt.push(offset);
        return offset === 1 && !isKnown ? known.promise : undefined;
      },
    });
    asked();
    accept(0, 3);
    expect([ran(), asked(), learnt]).toEqual([[0], [], [0, 1]]);
    intake.release();
    expect(learnt).toEqual([0, 1]);
    expect(intake.oldestUnfinishedMs).toBe(7);
    isKnown = true;
    known.resolve();
    await turn();
    expect([ran(), asked(), learnt]).toEqual([[0, 1, 2], [], [0, 1, 1, 2]]);
  });

  it("PI2: has the schemas of the records behind it fetched meanwhile, each once", async () => {
    const ahead: string[] = [];
    const learnt = Promise.withResolvers<void>();
    let isLearnt = false;
    const { intake, ran } = openIntake({
      prefetch: () => (isLearnt ? undefined : learnt.promise),
      prefetchAhead: (value) => void ahead.push(String(value)),
    });
    const messages = ["a", null, "b"].map((text, offset) =>
      messageAt(offset, text === null ? null : Buffer.from(text)),
    );
    intake.accept({ messages, fetchedFrom: 0, lastOffset: 2, endOffset: 9 });
    expect([ahead, ran()]).toEqual([["a", "b"], []]);
    intake.accept({ messages: [messageAt(3, Buffer.from("c"))], fetchedFrom: 3, lastOffset: 3, endOffset: 9 });
    expect([ahead, ran()]).toEqual([["a", "b", "c"], []]);
    isLearnt = true;
    learnt.resolve();
    await learnt.promise;
    await Promise.resolve();
    intake.accept({ messages: [messageAt(4, Buffer.from("d"))], fetchedFrom: 4, lastOffset: 4, endOffset: 9 });
    expect([ahead, ran()]).toEqual([
      ["a", "b", "c"],
      [0, 1, 2, 3],
    ]);
  });

  it("ends the consumer when the prefetch fails for good, naming the record", async () => {
    const unknown = new PosthasteError("unknown_schema", "no schema 9");
    const { accept, failures, ran } = openIntake({ prefetch: () => Promise.reject(unknown) });
    accept(0, 1);
    await turn();
    expect(failures).toMatchObject([
      { code: "unknown_schema", message: "offset 0 of t partition 0 cannot be read: no schema 9", cause: unknown },
    ]);
    expect(ran()).toEqual([]);
    const bug = openIntake({ prefetch: () => Promise.reject(new Error("a bug")) });
    bug.accept(0, 1);
    await turn();
    expect(bug.failures).toMatchObject([{ code: "internal" }]);
  });

  it("ends the consumer when it cannot be taken in, for a bug", () => {
    const { accept, failures } = openIntake({
      take: () => {
        throw new Error("a bug");
      },
    });
    accept(0, 1);
    expect(failures).toMatchObject([{ code: "internal", message: "taking in a record of t partition 0 failed" }]);
  });
});
