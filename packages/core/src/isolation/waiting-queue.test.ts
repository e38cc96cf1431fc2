import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WaitingQueue } from "./waiting-queue.ts";

interface Numbered {
  readonly isRetry: boolean;
  readonly number: number;
}

function takeAll(queue: WaitingQueue<Numbered>): Numbered[] {
  const served: Numbered[] = [];
  for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
    served.push(next);
    queue.shift();
  }
  return served;
}

describe("a waiting queue", () => {
  it("WQ1: serves first attempts and retries alternately while both wait, each in the order of their coming", () => {
    const queue = new WaitingQueue<Numbered>();
    for (let number = 0; number < 4; number++) queue.push({ isRetry: false, number });
    for (let number = 0; number < 2; number++) queue.push({ isRetry: true, number });
    expect(takeAll(queue).map(({ isRetry, number }) => `${isRetry ? "r" : "f"}${number}`)).toEqual([
      "f0",
      "r0",
      "f1",
      "r1",
      "f2",
      "f3",
    ]);
  });

  it("WQ2: gives up the newest of the longer kind first", () => {
    const queue = new WaitingQueue<Numbered>();
    for (let number = 0; number < 3; number++) queue.push({ isRetry: true, number });
    queue.push({ isRetry: false, number: 9 });
    expect(queue.peekLast()).toEqual({ isRetry: true, number: 2 });
    queue.pop();
    queue.pop();
    queue.pop();
    expect([queue.peekLast(), queue.length]).toEqual([{ isRetry: true, number: 0 }, 1]);
  });

  it("says how many go before a newcomer: as many as are served before it would be", () => {
    const kinds = fc.array(fc.boolean(), { maxLength: 30 });
    fc.assert(
      fc.property(kinds, fc.boolean(), (waiting, isRetry) => {
        const queue = new WaitingQueue<Numbered>();
        for (const [number, kind] of waiting.entries()) queue.push({ isRetry: kind, number });
        const ahead = queue.ahead(isRetry);
        queue.push({ isRetry, number: -1 });
        const served = takeAll(queue).findIndex(({ number }) => number === -1);
        // By one at most, since it depends on which kind is next.
        expect(Math.abs(served - ahead)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("gives out those that are meant in the order of their coming, and leaves the others in theirs", () => {
    const queue = new WaitingQueue<Numbered>();
    for (let number = 0; number < 6; number++) queue.push({ isRetry: number > 3, number });
    expect(queue.takeOut(({ number }) => number % 2 === 1).map(({ number }) => number)).toEqual([1, 3, 5]);
    expect(queue.takeOut(() => false)).toEqual([]);
    expect([queue.length, takeAll(queue).map(({ number }) => number)]).toEqual([3, [0, 4, 2]]);
  });

  it("drains all, and is empty then", () => {
    const queue = new WaitingQueue<Numbered>();
    queue.push({ isRetry: true, number: 1 });
    queue.push({ isRetry: false, number: 2 });
    expect(queue.drain().map(({ number }) => number)).toEqual([2, 1]);
    expect([queue.length, queue.peek(), queue.peekLast()]).toEqual([0, undefined, undefined]);
  });
});
