import { describe, expect, it } from "vitest";
import { takeLease } from "./audience.ts";

const lease = { holder: "a", sinceMs: 1000, untilMs: 6000 };

describe("takeLease", () => {
  it("gives what nobody has", () => {
    expect(takeLease(null, { holder: "a", nowMs: 1000, leaseMs: 5000 })).toEqual({ outcome: "taken", lease });
  });

  it("says since when another has it", () => {
    const attempt = takeLease(lease, { holder: "b", nowMs: 5999, leaseMs: 5000 });
    expect(attempt).toEqual({ outcome: "held", sinceMs: 1000, untilMs: 6000 });
  });

  it("gives what has run out, to another from then on", () => {
    const taken = { outcome: "taken", lease: { holder: "b", sinceMs: 6000, untilMs: 11_000 } };
    expect(takeLease(lease, { holder: "b", nowMs: 6000, leaseMs: 5000 })).toEqual(taken);
  });

  it("gives whoever has it more time, since the same moment", () => {
    const longer = { outcome: "taken", lease: { ...lease, untilMs: 9000 } };
    expect(takeLease(lease, { holder: "a", nowMs: 4000, leaseMs: 5000 })).toEqual(longer);
  });
});
