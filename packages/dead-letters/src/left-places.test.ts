import fc from "fast-check";
import { expect, it } from "vitest";
import { LeftPlaces } from "./left-places.ts";
import { PlaceSet } from "./place-set.ts";

it("holds what was left, in whatever order and however often", () => {
  const place = fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 40 }));
  fc.assert(
    fc.property(fc.array(place), (came) => {
      const left = new LeftPlaces();
      for (const [partition, offset] of came) left.of(partition)(offset);
      const expected = new PlaceSet();
      for (const [partition, offset] of [...came].sort(([p, a], [q, b]) => p - q || a - b)) {
        expected.add(partition, [offset]);
      }
      expect(left.places().encode()).toEqual(expected.encode());
    }),
  );
});
