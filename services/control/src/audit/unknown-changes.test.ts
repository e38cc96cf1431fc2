import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AuditPage, AuditQuery, HeldEntry } from "./audit-journal.ts";
import {
  type ConfigRevision,
  findUnknownChanges,
  mergedPage,
  type UnknownChange,
  withoutEntry,
} from "./unknown-changes.ts";

const NOW_MS = 1_000_000;
const FIRST = { below: 1000, belowRevision: 1000 };

const revisionAt = (revision: number, atMs: number): ConfigRevision => ({
  ...{ revision, atMs, isRemoval: false, changes: [{ field: "revision", from: null, to: String(revision) }] },
});

const entryAt = (offset: number, atMs: number, target = "dst_1"): HeldEntry => ({
  ...{ offset, atMs, target, actor: "dana", tokenId: "tok_1", way: "cli", operation: "changeDestination" },
  ...{ changes: [], requestId: `req_${offset}` },
});

const unknownAt = (revision: number, atMs: number): UnknownChange => ({
  ...{ revision, atMs, actor: "unknown", tokenId: null, operation: "change", target: "dst_1", changes: [] },
});

interface Held {
  readonly entries: readonly HeldEntry[];
  readonly page?: Partial<AuditPage>;
}

/** The revisions that are found to be of nobody, where the audit holds these entries, the newest first. */
async function unknownAmong(revisions: readonly ConfigRevision[], { entries, page = {} }: Held) {
  const journal = {
    page: async ({ fits }: AuditQuery): Promise<AuditPage> => ({
      entries: entries.filter(fits),
      ...{ below: null, searchedToMs: null, isWhole: true, freshness: { asOf: null, complete: true } },
      ...page,
    }),
  };
  const parts = { journal, revisionsOf: async () => revisions, nowMs: () => NOW_MS };
  return (await findUnknownChanges("dst_1", parts, 100)).map(({ revision }) => revision);
}

describe("a revision", () => {
  const revisions = [revisionAt(3, 300_000), revisionAt(2, 200_000), revisionAt(1, 100_000)];

  it("that the audit has no entry of was made by nobody who is known", async () => {
    const entries = [entryAt(8, 300_004), entryAt(7, 250_000, "dst_2"), entryAt(6, 100_001)];
    expect(await unknownAmong(revisions, { entries })).toEqual([2]);
    expect(await unknownAmong(revisions, { entries: [] })).toEqual([3, 2, 1]);
    const removed = { ...revisionAt(4, 400_000), isRemoval: true };
    const parts = { revisionsOf: async () => [removed], nowMs: () => NOW_MS };
    const none = { entries: [], below: null, searchedToMs: null, isWhole: true };
    const journal = { page: async () => ({ ...none, freshness: { asOf: null, complete: true } }) };
    expect(await findUnknownChanges("dst_1", { ...parts, journal }, 100)).toEqual([
      { ...unknownAt(4, 400_000), operation: "remove", changes: removed.changes },
    ]);
  });

  it("is not judged while its entry may still come, nor where the entry may be gone or was not looked for", async () => {
    expect(await unknownAmong([revisionAt(9, NOW_MS - 9999)], { entries: [] })).toEqual([]);
    expect(await unknownAmong([revisionAt(9, NOW_MS - 10_000)], { entries: [] })).toEqual([9]);
    const entries = [entryAt(8, 260_000, "dst_2"), entryAt(7, 150_000, "dst_2")];
    expect(await unknownAmong(revisions, { entries, page: { isWhole: false } })).toEqual([3, 2]);
    expect(await unknownAmong(revisions, { entries, page: { below: 7, searchedToMs: 150_000 } })).toEqual([3, 2]);
  });

  it("is accounted for by the entry that is nearest to it, and each entry accounts for one", () => {
    const [byHand, asked] = [revisionAt(1, 99_000), revisionAt(2, 100_000)];
    expect(withoutEntry([asked, byHand], [entryAt(5, 100_002)])).toEqual([byHand]);
    const later = revisionAt(3, 101_000);
    expect(withoutEntry([later, asked], [entryAt(5, 100_002)])).toEqual([later]);
    expect(withoutEntry([asked, byHand], [entryAt(5, 100_002), entryAt(6, 100_500)])).toEqual([]);
    expect(withoutEntry([asked], [entryAt(5, 110_001)])).toEqual([asked]);
  });
});

describe("the pages of entries and of changes without one", () => {
  it("have each of both once, whatever the size of a page, and each page no more than its size", () => {
    const moments = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 30 });
    fc.assert(
      fc.property(
        moments,
        moments,
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        (entries, unknown, limit, isSearch) => {
          const all = entries.toSorted((a, b) => b - a).map((at) => entryAt(at, at * 10));
          const changes = unknown.toSorted((a, b) => b - a).map((at) => unknownAt(at, at * 10 + 5));
          const shown: (HeldEntry | UnknownChange)[] = [];
          for (let from: typeof FIRST | null = FIRST; from !== null; ) {
            const { below } = from;
            const rest = all.filter(({ offset }) => offset < below);
            // A search that ends early looked at some entries that do not fit.
            const page = rest.slice(0, limit);
            const last = page.at(-1);
            const isEnd = last === undefined || rest.length === page.length;
            const ended = isSearch && !isEnd ? last.atMs : null;
            const read = { entries: page, below: isEnd ? null : last.offset, searchedToMs: ended };
            const { rows, next } = mergedPage(read, changes, { from, limit });
            expect(rows.length).toBeLessThanOrEqual(limit);
            shown.push(...rows);
            from = next;
          }
          const sorted = [...all, ...changes].sort((a, b) => b.atMs - a.atMs);
          expect(shown).toEqual(sorted);
        },
      ),
    );
  });
});
