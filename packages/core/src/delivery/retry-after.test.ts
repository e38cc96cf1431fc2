import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRetryAfter } from "./retry-after.ts";

const NOW = Date.UTC(2026, 10, 21, 10, 0, 0);

describe("parseRetryAfter", () => {
  it("reads a number of seconds from now", () => {
    expect(parseRetryAfter("120", NOW)).toBe(NOW + 120_000);
    expect(parseRetryAfter(" 1 ", NOW)).toBe(NOW + 1_000);
  });

  it.each(["Sat, 21 Nov 2026 10:02:00 GMT", "Saturday, 21-Nov-26 10:02:00 GMT", "Sat Nov 21 10:02:00 2026"])(
    "reads the date form %s",
    (text) => {
      expect(parseRetryAfter(text, NOW)).toBe(NOW + 120_000);
    },
  );

  it("reads a day with one digit in the asctime form", () => {
    expect(parseRetryAfter("Tue Dec  1 00:00:00 2026", NOW)).toBe(Date.UTC(2026, 11, 1));
  });

  it("reads a leap second, the last day of a year, and a year that is two digits and ahead", () => {
    expect(parseRetryAfter("Thu, 31 Dec 2026 23:59:60 GMT", NOW)).toBe(Date.UTC(2027, 0, 1));
    expect(parseRetryAfter("Tuesday, 21-Nov-28 10:00:00 GMT", Date.UTC(2027, 11, 1))).toBe(Date.UTC(2028, 10, 21, 10));
  });

  it("takes a two-digit year within fifty years for one ahead, and one beyond for one of the past century", () => {
    const yearMs = 365 * 86_400_000;
    expect(parseRetryAfter("Friday, 20-Nov-76 10:00:00 GMT", NOW)).toBe(NOW + yearMs);
    expect(parseRetryAfter("Monday, 23-Nov-76 10:00:00 GMT", NOW)).toBeNull();
    // At the turn of a century the past one can still be ahead.
    expect(parseRetryAfter("Friday, 21-Nov-99 10:00:00 GMT", Date.UTC(2000, 0, 1))).toBeNull();
  });

  it("takes a two-digit year that seems far ahead for one of the past century", () => {
    expect(parseRetryAfter("Sunday, 06-Nov-94 08:49:37 GMT", NOW)).toBeNull();
  });

  it.each(["0", "Sat, 21 Nov 2026 10:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"])(
    "asks for nothing when the moment has passed: %s",
    (text) => {
      expect(parseRetryAfter(text, NOW)).toBeNull();
    },
  );

  it.each([
    "",
    "soon",
    "-1",
    "1.5",
    "1e3",
    "120s",
    "2026-11-21T10:02:00Z",
    "Sat, 31 Nov 2026 10:02:00 GMT",
    "Sun, 29 Feb 2027 10:02:00 GMT",
    "Sat, 00 Nov 2026 10:02:00 GMT",
    "Sat, 21 Nom 2026 10:02:00 GMT",
    "Sat, 21 Nov 2026 24:00:00 GMT",
    "Sat, 21 Nov 2026 10:60:00 GMT",
    "Sat, 21 Nov 2026 10:02:00 CET",
    "Sat, 21 Nov 2026 10:02:61 GMT",
    "on Sat, 21 Nov 2026 10:02:00 GMT",
    "Sat, 21 Nov 2026 10:02:00 GMT+1",
    "on Saturday, 21-Nov-26 10:02:00 GMT",
    "Saturday, 21-Nov-26 10:02:00 GMT+1",
    "on Sat Nov 21 10:02:00 2026",
    "Sat Nov 21 10:02:00 2026 CET",
    "Saturday, 00-Dec-26 10:02:00 GMT",
    "Fri, 32 Dec 2026 10:02:00 GMT",
  ])("ignores what it cannot read: %j", (text) => {
    expect(parseRetryAfter(text, NOW)).toBeNull();
  });

  it("caps what means never at a year", () => {
    const yearMs = 365 * 86_400_000;
    expect(parseRetryAfter("9".repeat(400), NOW)).toBe(NOW + yearMs);
    expect(parseRetryAfter("Fri, 31 Dec 9999 23:59:59 GMT", NOW)).toBe(NOW + yearMs);
  });

  it("agrees with the calendar for every second of the coming year", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 364 * 86_400 }), (seconds) => {
        const moment = new Date(NOW + seconds * 1000);
        expect(parseRetryAfter(moment.toUTCString(), NOW)).toBe(moment.getTime());
      }),
    );
  });

  it("agrees with the calendar across leap years and centuries", () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date(Date.UTC(2400, 0, 1)), noInvalidDate: true }), (date) => {
        const moment = Math.floor(date.getTime() / 1000) * 1000;
        expect(parseRetryAfter(new Date(moment).toUTCString(), moment - 1000)).toBe(moment);
      }),
    );
  });
});
