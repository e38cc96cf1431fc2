import fc from "fast-check";
import { expect, it } from "vitest";
import { MAX_ISO_TIME_MS, MIN_ISO_TIME_MS, toIsoTime } from "./iso-time.ts";

it("writes every moment of the four-digit years as Date does", () => {
  fc.assert(
    fc.property(fc.integer({ min: MIN_ISO_TIME_MS, max: MAX_ISO_TIME_MS }), (momentMs) => {
      expect(toIsoTime(momentMs)).toBe(new Date(momentMs).toISOString());
    }),
    { numRuns: 2000 },
  );
});

it("knows the leap days", () => {
  for (const text of ["2000-02-29", "1900-02-28", "1900-03-01", "2024-02-29", "2100-03-01", "1969-12-31"]) {
    const moment = `${text}T23:59:59.999Z`;
    expect(toIsoTime(Date.parse(moment))).toBe(moment);
  }
});

it("moves what four digits cannot say to the nearest moment that they can", () => {
  expect(toIsoTime(Number.MAX_SAFE_INTEGER)).toBe("9999-12-31T23:59:59.999Z");
  expect(toIsoTime(Number.MIN_SAFE_INTEGER)).toBe("0000-01-01T00:00:00.000Z");
});
