import fc from "fast-check";
import { expect, it } from "vitest";
import { packProjections, unpackProjections } from "./packed-entries.ts";
import type { ProjectionEntry } from "./projection-entry.ts";
import { PROJECTION_NAMES } from "./store.ts";

const text = fc.string({ unit: "grapheme" });
const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const plain = fc.record({
  ...{ timeMs: number, partition: fc.nat(), offset: number, place: fc.nat() },
  ...{ destinationId: text, kind: text, messageId: text, detail: text },
  users: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
});
const marked = fc
  .tuple(plain, fc.integer({ min: 1, max: 7 }))
  .map(([entry, mark]): ProjectionEntry => ({ ...entry, mark }));
const entries = fc.array(fc.oneof(plain, marked), { maxLength: 5 });
const projections = fc.record(Object.fromEntries(PROJECTION_NAMES.map((name) => [name, entries])), {
  requiredKeys: [],
});

it("entries come out of the way to the thread as they went in, field by field and projection by projection", () => {
  fc.assert(
    fc.property(projections, (all) => {
      expect(unpackProjections(structuredClone(packProjections(all)))).toEqual(all);
    }),
  );
});
