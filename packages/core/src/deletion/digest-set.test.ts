import { hash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DigestSet } from "./digest-set.ts";

const sha256 = (text: string): string => hash("sha256", text, "binary");

/** A digest that puts a text where its number says: `home` in the shard, and told apart by `tail` alone. */
const placed = (home: number, tail: number): string =>
  String.fromCharCode(7, 0, 0, 0, 0, 0, 0, home, 0, 0, 0, 0, 0, 0, 1, tail);

describe("a set of digests", () => {
  it("DS1: holds what was added and not removed, as a Set does, whatever comes and goes", () => {
    const texts = fc.integer({ min: 0, max: 300 }).map((number) => `src_1:user-${number}`);
    const changes = fc.array(fc.tuple(fc.constantFrom("add", "add", "delete"), texts), { maxLength: 2000 });
    fc.assert(
      fc.property(changes, (steps) => {
        const set = new DigestSet(sha256);
        const model = new Set<string>();
        for (const [step, text] of steps) {
          const isChange = step === "add" ? !model.has(text) : model.has(text);
          expect(step === "add" ? set.add(text) : set.delete(text)).toBe(isChange);
          if (step === "add") model.add(text);
          else model.delete(text);
          expect(set.has(text)).toBe(step === "add");
        }
        expect(set.size).toBe(model.size);
        for (let number = 0; number <= 300; number++) {
          const text = `src_1:user-${number}`;
          expect(set.has(text)).toBe(model.has(text));
        }
      }),
    );
  });

  it("DS3: a removal among texts that crowd the same slots loses none of the others", () => {
    const homes = fc.tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 0, max: 40 }));
    const changes = fc.array(fc.tuple(fc.constantFrom("add", "add", "add", "delete"), homes), { maxLength: 400 });
    fc.assert(
      fc.property(changes, (steps) => {
        const set = new DigestSet((text) => text);
        const model = new Set<string>();
        for (const [step, [home, tail]] of steps) {
          // Few homes, at the end of the table and around to its start.
          const digest = placed(home % 4 === 0 ? 255 : home % 4, tail);
          if (step === "add") model.add(digest);
          else model.delete(digest);
          if (step === "add") set.add(digest);
          else set.delete(digest);
        }
        for (const home of [255, 1, 2, 3]) {
          for (let tail = 0; tail <= 40; tail++) {
            expect(set.has(placed(home, tail))).toBe(model.has(placed(home, tail)));
          }
        }
      }),
    );
  });

  it("DS3: whichever text of a crowd is removed, the others are found, around the table's end too", () => {
    for (const homes of [
      [3, 3, 3, 4, 4, 5],
      [254, 255, 255, 255, 255, 0],
    ]) {
      const crowd = homes.map((home, tail) => placed(home, tail + 2));
      for (const removed of crowd) {
        const set = new DigestSet((text) => text);
        for (const digest of crowd) set.add(digest);
        expect(set.delete(removed)).toBe(true);
        expect(crowd.filter((digest) => set.has(digest))).toEqual(crowd.filter((digest) => digest !== removed));
      }
    }
  });

  it("DS1: tells digests apart by each of their sixteen bytes, one of zeros among them", () => {
    const set = new DigestSet((text) => text);
    const zeros = "\0".repeat(16);
    expect(set.has(zeros)).toBe(false);
    set.add(zeros);
    for (let at = 0; at < 16; at++) {
      const other = `${zeros.slice(0, at)}\u0002${zeros.slice(at + 1)}`;
      expect(set.has(other)).toBe(false);
    }
    expect(set.has(zeros)).toBe(true);
    expect(set.delete(zeros)).toBe(true);
    expect([set.has(zeros), set.size]).toEqual([false, 0]);
  });

  it("DS2: takes between 21 and 43 bytes an entry once it holds more than a few", () => {
    const set = new DigestSet(sha256);
    for (let number = 0; number < 50_000; number++) {
      set.add(`src_1:user-${number}`);
      if (number > 20_000 && number % 1000 === 0) {
        expect(set.bytes / set.size).toBeGreaterThan(21);
        expect(set.bytes / set.size).toBeLessThan(45);
      }
    }
  });

  it("DS4: asks for no digest while it is empty, before the first text and after the last", () => {
    let asked = 0;
    const set = new DigestSet((text) => {
      asked += 1;
      return sha256(text);
    });
    expect(set.has("a")).toBe(false);
    expect(asked).toBe(0);
    set.add("a");
    set.delete("a");
    expect([set.has("a"), asked]).toEqual([false, 2]);
  });
});
