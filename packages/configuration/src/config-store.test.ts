import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawWriter, nextRevision } from "./config-store.ts";

const writer = fc.integer({ min: 0, max: 1023 });
const nowMs = fc.integer({ min: 0, max: Date.parse("2200-01-01") });

describe("S3: a revision", () => {
  it("is above the last, not below now, safe, and names its writer", () => {
    fc.assert(
      fc.property(nowMs, fc.nat({ max: Date.parse("2200-01-01") * 1024 }), writer, (now, last, by) => {
        const revision = nextRevision(now, last, by);
        expect(revision).toBeGreaterThan(last);
        expect(revision).toBeGreaterThanOrEqual(now * 1024);
        expect(revision % 1024).toBe(by);
        expect(Number.isSafeInteger(revision)).toBe(true);
      }),
    );
  });

  it("is never the same for two writers", () => {
    fc.assert(
      fc.property(nowMs, fc.nat(), writer, writer, (now, last, one, two) => {
        fc.pre(one !== two);
        expect(nextRevision(now, last, one)).not.toBe(nextRevision(now, last, two));
      }),
    );
  });

  it("has a writer from the whole range", () => {
    expect([drawWriter(0), drawWriter(0.5), drawWriter(1 - Number.EPSILON)]).toEqual([0, 512, 1023]);
  });
});
