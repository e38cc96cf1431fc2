/** Rule: M4 of store.ts. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { ProjectionEntry } from "./projection-entry.ts";
import { ofEach, Store } from "./store.ts";

const PARTITIONS = [0, 1];

/** One record: of a partition, with the time of its dead letter, or null for one that became no entry. */
const record = fc.record({
  partition: fc.constantFrom(...PARTITIONS),
  timeMs: fc.option(fc.integer({ min: 1, max: 100 }), { freq: 8 }),
});

const DETAIL = JSON.stringify({ sourceId: "src_1", type: "track", event: null, userIds: [], errors: [] });

it("M4: from where it says on, every record up to the next has its entry", () => {
  const log = fc.array(record, { maxLength: 60 });
  const bounds = fc.record({ maxEntries: fc.integer({ min: 1, max: 40 }), keepMs: fc.integer({ min: 1, max: 120 }) });
  fc.assert(
    fc.property(log, bounds, fc.integer({ min: 0, max: 5 }), (records, bound, firstOffset) => {
      let nowMs = 60;
      const bounded = ofEach(() => bound);
      const options = { path: null, identity: "test", bounds: bounded, memoryBounds: bounded };
      const store = new Store(options, () => nowMs);
      const next = new Map(PARTITIONS.map((partition) => [partition, firstOffset]));
      for (const { partition, timeMs } of records) {
        const offset = next.get(partition) ?? 0;
        next.set(partition, offset + 1);
        nowMs += 1;
        const entry = { timeMs: timeMs ?? 0, partition, offset, place: 0, destinationId: "a", kind: "window_expired" };
        const entries: readonly ProjectionEntry[] =
          timeMs === null ? [] : [{ ...entry, messageId: "m", detail: DETAIL, users: "" }];
        const passedTo = timeMs === null ? offset + 1 : firstOffset;
        store.take("dead_letters", { partition, next: offset + 1, passedTo, entries: { dead_letters: entries } });
      }
      // Nothing is added meanwhile: the store still holds entries that are too old to be shown.
      nowMs += 1000;
      const asked = { texts: [], limit: 1000, lookThrough: 1000, anyAge: true };
      const held = store.search("dead_letters", asked).entries.map(({ partition, offset }) => `${partition}:${offset}`);
      for (const range of store.heldDeadLetters()) {
        expect(range.next).toBe(next.get(range.partition));
        for (let offset = range.from; offset < range.next; offset += 1) {
          expect(held).toContain(`${range.partition}:${offset}`);
        }
      }
      // Where nothing was dropped or passed over, all of it is held.
      const isWhole = held.length === records.length;
      if (isWhole) for (const { from } of store.heldDeadLetters()) expect(from).toBe(firstOffset);
      store.close();
    }),
  );
});
