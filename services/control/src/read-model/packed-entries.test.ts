import fc from "fast-check";
import { expect, it } from "vitest";
import type { JournalEntry } from "./journal-entry.ts";
import { packJournals, unpackJournals } from "./packed-entries.ts";
import { JOURNAL_NAMES } from "./store.ts";

const text = fc.string({ unit: "grapheme" });
const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const plain = fc.record({
  ...{ timeMs: number, partition: fc.nat(), offset: number, place: fc.nat() },
  ...{ destinationId: text, kind: text, messageId: text, detail: text },
  users: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
});
const marked = fc
  .tuple(plain, fc.integer({ min: 1, max: 7 }))
  .map(([entry, mark]): JournalEntry => ({ ...entry, mark }));
const entries = fc.array(fc.oneof(plain, marked), { maxLength: 5 });
const journals = fc.record(Object.fromEntries(JOURNAL_NAMES.map((name) => [name, entries])), { requiredKeys: [] });

it("entries come out of the way to the thread as they went in, field by field and journal by journal", () => {
  fc.assert(
    fc.property(journals, (all) => {
      expect(unpackJournals(structuredClone(packJournals(all)))).toEqual(all);
    }),
  );
});
