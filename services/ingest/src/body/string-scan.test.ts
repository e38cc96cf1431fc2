import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { endOfDigits, StringScan } from "./string-scan.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** The places at which a scan stops within one string: each backslash that escapes, and the string's end. */
function stopsOf(body: Buffer): readonly number[] {
  const scan = new StringScan(body);
  const stops: number[] = [];
  let at = scan.next(0);
  for (; at < body.length; at = scan.next(at + (body[at] === 0x5c ? 2 : 1))) stops.push(at);
  return stops;
}

describe("a scan of strings", () => {
  it("stops at each quote and each backslash that escapes, however far apart they are", () => {
    const piece = fc.oneof(
      fc.constantFrom('"', "\\\\", '\\"', "\\n", "\\u0061"),
      fc.nat({ max: 400 }).map((length) => "x".repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join("");
        const expected = [...text.matchAll(/"|\\[\s\S]/g)].map(({ index }) => index);
        expect(stopsOf(Buffer.from(text))).toEqual(expected);
      }),
    );
  });

  it.each([
    ["an escape each 200 bytes, and no quote", `${"x".repeat(198)}\\n`],
    ["an escaped quote each 200 bytes", `${"x".repeat(198)}\\"`],
    ["a quote each 200 bytes, and no escape", `${"x".repeat(199)}"`],
    ["a quote and an escape in turns", `${"x".repeat(199)}"${"x".repeat(198)}\\n`],
  ])("looks at a byte no more than twice beside the first of a string: %s", (_what, unit) => {
    const body = Buffer.from(unit.repeat(1_000));
    const indexOf = Buffer.prototype.indexOf;
    let lookedAt = 0;
    vi.spyOn(Buffer.prototype, "indexOf").mockImplementation(function (this: Buffer, value, from) {
      const found = indexOf.call(this, value, from);
      lookedAt += (found === -1 ? this.length : found) - Number(from ?? 0);
      return found;
    });
    expect(stopsOf(body).length).toBeGreaterThanOrEqual(1_000);
    expect(lookedAt).toBeGreaterThan(0);
    expect(lookedAt).toBeLessThanOrEqual(2 * body.length);
  });

  it("says that there is nothing more behind the end", () => {
    const body = Buffer.from(`${"x".repeat(500)}\\`);
    const scan = new StringScan(body);
    expect(scan.next(0)).toBe(500);
    expect(scan.next(502)).toBeGreaterThanOrEqual(body.length);
    expect(new StringScan(Buffer.from("x".repeat(500))).next(0)).toBe(500);
  });
});

it("blanks, digits and what stands among digits end where anything else begins, or where no further is looked", () => {
  const letter = fc.constantFrom(...'0123456789 \n\t+-.eE,:"[]{}tn');
  fc.assert(
    fc.property(fc.string({ unit: letter }), fc.nat({ max: 20 }), fc.nat({ max: 20 }), (text, from, further) => {
      const body = Buffer.from(text);
      const to = Math.min(body.length, from + further);
      const found = text.slice(from, to).search(/[^0-9 \n\t+\-.]/);
      expect(endOfDigits(body, from, to)).toBe(found === -1 ? Math.max(from, to) : from + found);
    }),
  );
});
