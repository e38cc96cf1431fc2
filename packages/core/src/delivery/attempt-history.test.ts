import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addAttempt, decodeHistory, encodeHistory } from "./attempt-history.ts";
import type { PastAttempt } from "./dead-letter.ts";
import { type DeliveryProgress, NO_PROGRESS } from "./delivery.ts";

const answer = fc.record({
  url: fc.webUrl(),
  status: fc.option(fc.integer({ min: 100, max: 599 }), { nil: null }),
  error: fc.option(fc.string(), { nil: null }),
  durationMs: fc.integer({ min: 0, max: 50_000 }).map((tenths) => tenths / 10),
});
const pastAttempt: fc.Arbitrary<PastAttempt> = fc.record({
  attempt: fc.integer({ min: 1, max: 40 }),
  replayId: fc.option(fc.string(), { nil: null }),
  startedAtMs: fc.nat(),
  urls: fc.array(answer, { maxLength: 5 }),
});

/** The progress after `count` attempts at one URL. */
function afterAttempts(count: number, before: DeliveryProgress = NO_PROGRESS): DeliveryProgress {
  let progress = before;
  for (let attempt = 1; attempt <= count; attempt++) {
    const urls = [{ url: "https://a.example/", status: 503, error: null, durationMs: attempt }];
    progress = { ...addAttempt(progress, { startedAtMs: attempt * 1000, urls }), attempts: attempt };
  }
  return progress;
}

describe("the history of a delivery", () => {
  it("comes back as it went", () => {
    fc.assert(
      fc.property(fc.array(pastAttempt, { maxLength: 15 }), (attempts) => {
        expect(decodeHistory(encodeHistory(attempts))).toEqual(attempts);
      }),
    );
  });

  it("is none before the first attempt", () => {
    expect([NO_PROGRESS.history, encodeHistory([]), decodeHistory(null)]).toEqual([null, null, []]);
  });

  it.each([
    [15, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]],
    [16, [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]],
    [40, [1, 2, 3, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40]],
  ])("AH1: of %i attempts holds the first three and the last twelve", (count, kept) => {
    const history = decodeHistory(afterAttempts(count).history);
    expect(history.map(({ attempt }) => attempt)).toEqual(kept);
    expect(history.at(-1)).toEqual({
      attempt: count,
      replayId: null,
      startedAtMs: count * 1000,
      urls: [{ url: "https://a.example/", status: 503, error: null, durationMs: count }],
    });
  });

  it("AH1: stays small however long its URLs are, since each stands in it once", () => {
    const urls = ["a", "b", "c", "d", "e"].map((host) => ({
      ...{ url: `https://${host}.example/${"x".repeat(2000)}`, status: null, error: "connection_refused" },
      durationMs: 5000.04,
    }));
    let progress: DeliveryProgress = NO_PROGRESS;
    for (let attempt = 0; attempt < 30; attempt++) progress = addAttempt(progress, { startedAtMs: Date.now(), urls });
    expect(progress.history?.length).toBeLessThan(10_200 + 15 * 5 * 45);
  });

  it("AH2: goes on through replays, each of which counts from 1", () => {
    const replay = { id: "rpl_1", count: 1, from: null };
    const { history } = afterAttempts(2);
    const rounds = decodeHistory(afterAttempts(2, { ...NO_PROGRESS, history, replay }).history);
    expect(rounds.map(({ attempt, replayId }) => [attempt, replayId])).toEqual([
      [1, null],
      [2, null],
      [1, "rpl_1"],
      [2, "rpl_1"],
    ]);
  });

  it("AH1: counts as none when it cannot be read", () => {
    const whole = encodeHistory([
      { attempt: 1, replayId: null, startedAtMs: 5, urls: [{ url: "u", status: 503, error: null, durationMs: 1 }] },
    ]);
    expect(whole).toBe('{"u":["u"],"a":[[1,5,null,[[0,503,null,1]]]]}');
    for (const damaged of [
      ...["", "null", "3", "[]", "{}", '{"u":[],"a":3}', '{"u":[3],"a":[]}', '{"u":["u"],"a":[7]}'],
      ...['{"u":["u"],"a":[["1",5,null,[]]]}', '{"u":["u"],"a":[[1,"5",null,[]]]}', '{"u":["u"],"a":[[1,5,7,[]]]}'],
      ...[
        '{"u":["u"],"a":[[1,5,null,7]]}',
        '{"u":["u"],"a":[[1,5,null,[7]]]}',
        '{"u":[],"a":[[1,5,null,[[0,1,null,1]]]]}',
      ],
      ...['{"u":["u"],"a":[[1,5,null,[[0,"1",null,1]]]]}', '{"u":["u"],"a":[[1,5,null,[[0,1,7,1]]]]}'],
      ...['{"u":["u"],"a":[[1,5,null,[[0,1,null,"1"]]]]}', '{"u":["u"],"a":[[1,5,null,[["0",1,null,1]]]]}'],
    ]) {
      expect(decodeHistory(damaged)).toEqual([]);
    }
    fc.assert(
      fc.property(fc.json({ maxDepth: 2 }), (text) => {
        expect(() => decodeHistory(text)).not.toThrow();
      }),
    );
  });
});
