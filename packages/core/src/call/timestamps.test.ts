import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { correctTimestamp, parseTimestamp } from "./timestamps.ts";

const at = (text: string) => new Date(text).getTime();

describe("the forms that clients send", () => {
  it.each([
    ["node, java, the browser", "2026-11-21T03:24:17.269Z", "2026-11-21T03:24:17.269Z"],
    ["go v3: nanoseconds, cut", "2026-11-21T03:24:21.772942375Z", "2026-11-21T03:24:21.772Z"],
    ["go v3: nanoseconds in the host's own zone", "2026-11-21T04:24:21.772442375+01:00", "2026-11-21T03:24:21.772Z"],
    ["go v2: no colon, whole seconds", "2026-11-21T03:24:21+0000", "2026-11-21T03:24:21.000Z"],
    ["go v2 west of Greenwich", "2026-11-20T22:24:21-0500", "2026-11-21T03:24:21.000Z"],
    ["python: offset with a colon", "2026-11-21T03:24:21.276+00:00", "2026-11-21T03:24:21.276Z"],
    ["rudder-python: microseconds", "2026-11-21T03:24:21.564175+00:00", "2026-11-21T03:24:21.564Z"],
    ["rudder-python: no fraction when it is 0", "2026-11-21T03:24:21+00:00", "2026-11-21T03:24:21.000Z"],
    ["a half-hour zone", "2026-11-21T08:54:21.5+05:30", "2026-11-21T03:24:21.500Z"],
    ["a zone of hours only", "2026-11-21T05:24:21+02", "2026-11-21T03:24:21.000Z"],
    ["no zone at all, read as UTC", "2026-11-21T03:24:21", "2026-11-21T03:24:21.000Z"],
    ["no seconds", "2026-11-21T03:24Z", "2026-11-21T03:24:00.000Z"],
    ["a date", "2012-12-02", "2012-12-02T00:00:00.000Z"],
    ["a blank between date and time, small letters", "2012-12-02 00:30:08.276z", "2012-12-02T00:30:08.276Z"],
    ["a leap day", "2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"],
    ["a leap day of a whole century", "2000-02-29", "2000-02-29T00:00:00.000Z"],
    ["a zone far east, to the last minute", "2026-11-21T23:59:00+23:59", "2026-11-21T00:00:00.000Z"],
    ["a fraction of 43 digits", `2026-11-21T03:24:17.${"1".repeat(43)}Z`, "2026-11-21T03:24:17.111Z"],
    ["the first writable moment", "0000-01-01T00:00:00.000Z", "0000-01-01T00:00:00.000Z"],
    ["the last writable moment", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
  ])("reads %s", (_name, text, expected) => {
    expect(parseTimestamp(text)).toBe(at(expected));
  });

  it.each([
    "",
    "now",
    "1763695457269",
    "2026-13-01T00:00:00Z",
    "2026-00-10T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-11-00T00:00:00Z",
    "2026-11-21T03:24:17+24:00",
    "2026-11-21T03:24:17+01:60",
    `2026-11-21T03:24:17.${"1".repeat(44)}Z`,
    "2026-04-31",
    "2026-11-21T24:00:00Z",
    "2026-11-21T03:60:00Z",
    "2026-11-21T03:24:61Z",
    "2026-11-21T03:24:17.Z",
    "2026-11-21T03:24:17.269Z ",
    "2026-11-21T03:24:17+99:00",
    "Sat, 21 Nov 2026 03:24:17 GMT",
    "+010000-01-01T00:00:00.000Z",
    "0000-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-01:00",
    `2026-11-21T03:24:17.${"1".repeat(100)}Z`,
  ])("takes %j for no moment", (text) => {
    expect(parseTimestamp(text)).toBeNull();
  });

  it("reads back every moment that the platform writes, in any zone", () => {
    const moments = fc.date({
      min: new Date("0001-01-01T00:00:00Z"),
      max: new Date("9998-12-31T00:00:00Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(moments, fc.integer({ min: -14 * 60, max: 14 * 60 }), (moment, offsetMinutes) => {
        const local = new Date(moment.getTime() + offsetMinutes * 60_000).toISOString().slice(0, -1);
        const minutes = Math.abs(offsetMinutes);
        const zone = `${offsetMinutes < 0 ? "-" : "+"}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
        expect(parseTimestamp(moment.toISOString())).toBe(moment.getTime());
        expect(parseTimestamp(local + zone)).toBe(moment.getTime());
      }),
    );
  });

  it("answers a moment or null for any text, and never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const ms = parseTimestamp(text);
        expect(ms === null || Number.isSafeInteger(ms)).toBe(true);
      }),
    );
  });
});

describe("the correction of the caller's clock", () => {
  const receivedAtMs = at("2026-11-21T10:00:00.500Z");

  it("takes from the caller's time what its clock was off by when it sent", () => {
    const originalMs = at("2026-11-21T09:00:00Z");
    const sentAtMs = at("2026-11-21T09:00:10Z");
    expect(correctTimestamp({ originalMs, sentAtMs, receivedAtMs })).toBe(receivedAtMs - 10_000);
  });

  it("keeps the caller's time when it did not say when it sent", () => {
    const originalMs = at("2012-12-02T00:30:08.276Z");
    expect(correctTimestamp({ originalMs, sentAtMs: null, receivedAtMs })).toBe(originalMs);
  });

  it("keeps the caller's time when it was sent over a day before it happened, by another clock", () => {
    const originalMs = at("2026-11-21T03:24:17Z");
    expect(correctTimestamp({ originalMs, sentAtMs: 0, receivedAtMs })).toBe(originalMs);
    const sentAtMs = originalMs - 86_400_000;
    expect(correctTimestamp({ originalMs, sentAtMs, receivedAtMs })).toBe(receivedAtMs + 86_400_000);
  });

  it("is the moment of receipt when the caller gave no time", () => {
    expect(correctTimestamp({ originalMs: null, sentAtMs: receivedAtMs - 5, receivedAtMs })).toBe(receivedAtMs);
  });

  it("keeps the caller's time when the corrected one could not be written", () => {
    const originalMs = at("9999-12-31T00:00:00Z");
    expect(correctTimestamp({ originalMs, sentAtMs: at("2000-01-01T00:00:00Z"), receivedAtMs })).toBe(originalMs);
  });

  it("does not depend on how wrong the caller's clock is", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), fc.nat(1e9), (offMs, ageMs) => {
        const sentAtMs = receivedAtMs + offMs;
        expect(correctTimestamp({ originalMs: sentAtMs - ageMs, sentAtMs, receivedAtMs })).toBe(receivedAtMs - ageMs);
      }),
    );
  });
});

function pad(number: number): string {
  return String(number).padStart(2, "0");
}
