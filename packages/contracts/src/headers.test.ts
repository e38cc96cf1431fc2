import { type DeliveryProgress, NO_PROGRESS } from "@posthaste/core/delivery/delivery";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeProgress, encodeProgress, headerText, REPUBLISHED_AT_HEADER, republishedAtMs } from "./headers.ts";

const moment = fc.option(fc.nat(), { nil: null });
const progress: fc.Arbitrary<DeliveryProgress> = fc.record({
  attempts: fc.nat(),
  deferrals: fc.nat(),
  windowStartMs: moment,
  deadlineMs: moment,
  notBeforeMs: moment,
  urls: fc.option(fc.array(fc.webUrl(), { maxLength: 5 }), { nil: null }),
  urlsNotBeforeMs: fc.option(fc.dictionary(fc.webUrl(), fc.nat(), { minKeys: 1, maxKeys: 5, noNullPrototype: true }), {
    nil: null,
  }),
  history: fc.option(fc.string({ minLength: 1 }), { nil: null }),
  replay: fc.option(
    fc.record({ id: fc.string({ minLength: 1 }), count: fc.nat(), from: fc.option(fc.string(), { nil: null }) }),
    { nil: null },
  ),
});

describe("progress headers", () => {
  it("W2: come back as they went, as strings or as the buffers that a broker returns", () => {
    fc.assert(
      fc.property(progress, (before) => {
        const headers = encodeProgress(before);
        const buffers = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]));
        expect(decodeProgress(headers)).toEqual(before);
        expect(decodeProgress(buffers)).toEqual(before);
      }),
    );
  });

  it("are none for a delivery that was never tried", () => {
    expect(encodeProgress(NO_PROGRESS)).toEqual({});
    expect(decodeProgress(undefined)).toEqual(NO_PROGRESS);
  });

  it("count as absent when they cannot be read, so that the delivery is tried and never lost", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(encodeProgress(someProgress))), fc.string()),
        (headers) => {
          expect(() => decodeProgress(headers)).not.toThrow();
        },
      ),
    );
    expect(decodeProgress({ attempts: "-1", "deadline-ms": "soon", urls: '[1, "a"]' })).toEqual(NO_PROGRESS);
    expect(decodeProgress({ replays: "3", "replayed-from": "x" })).toEqual(NO_PROGRESS);
    expect(decodeProgress({ "replay-id": "rpl_1", replays: "?" }).replay).toEqual({
      id: "rpl_1",
      count: 1,
      from: null,
    });
    for (const moments of ["{", "[1]", "null", "3", '{"https://receiver.test/": "soon"}']) {
      expect(decodeProgress({ "urls-not-before-ms": moments })).toEqual(NO_PROGRESS);
    }
  });
});

const someProgress: DeliveryProgress = {
  attempts: 1,
  deferrals: 1,
  windowStartMs: 1,
  deadlineMs: 2,
  notBeforeMs: 3,
  urls: ["https://receiver.test/"],
  urlsNotBeforeMs: { "https://receiver.test/": 4 },
  history: "{}",
  replay: { id: "rpl_1", count: 2, from: "posthaste.dead-letters/0/7" },
};

it("headerText takes the last of a repeated header", () => {
  expect(headerText({ revision: ["1", Buffer.from("2")] }, "revision")).toBe("2");
  expect(headerText({ revision: [] }, "revision")).toBeUndefined();
});

it("W1: the moment of a republished record is read as a number, and counts as absent when it is none", () => {
  expect(republishedAtMs({ [REPUBLISHED_AT_HEADER]: Buffer.from("1700000000000") })).toBe(1_700_000_000_000);
  expect(republishedAtMs({ [REPUBLISHED_AT_HEADER]: "soon" })).toBeNull();
  expect(republishedAtMs({})).toBeNull();
});
