import fc from "fast-check";
import { expect, it } from "vitest";
import { RecentChanges } from "./recent-changes.ts";

it("NC1: remembers the newest changes of as many keys as its limit, and never one of a key that changed since", () => {
  const keys = fc.array(fc.nat(30), { maxLength: 300 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), keys, (limit, changed) => {
      const recent = new RecentChanges<number>(limit);
      const newest = new Map<number, number>();
      changed.forEach((key, index) => {
        recent.set(String(key), index);
        newest.delete(key);
        newest.set(key, index);
        const held = [...newest].filter(([each]) => recent.get(String(each)) !== undefined);
        expect(held.length).toBeLessThanOrEqual(2 * limit);
        for (const [each, at] of held) expect(recent.get(String(each))).toBe(at);
        for (const [each] of [...newest].slice(-limit)) expect(recent.get(String(each))).toBeDefined();
      });
    }),
  );
});
