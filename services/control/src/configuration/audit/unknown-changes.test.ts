import type { AuditPage, AuditQuery, HeldEntry } from "@posthaste/configuration/audit-log";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AuditPlace,
  type ConfigRevision,
  type ConfigRevisions,
  findUnknownChanges,
  mergedPage,
  type UnknownChange,
  unknownOrder,
  withoutEntry,
} from "./unknown-changes.ts";

const NOW_MS = 1_000_000;
const FIRST: AuditPlace = { below: 1000, behind: null, untilMs: null };

const revisionAt = (revision: number, atMs: number): ConfigRevision => ({
  ...{ revision, atMs, isRemoval: false, changes: [{ field: "revision", from: null, to: String(revision) }] },
});

const entryAt = (offset: number, atMs: number, target = "dst_1"): HeldEntry => ({
  ...{ offset, atMs, target, actor: "dana", tokenId: "tok_1", way: "cli", operation: "changeDestination" },
  ...{ changes: [], requestId: `req_${offset}`, revision: null },
});

const unknownAt = (revision: number, atMs: number, target = "dst_1"): UnknownChange => ({
  ...{ revision, atMs, actor: "unknown", tokenId: null, operation: "change", target, changes: [] },
});

interface Held {
  readonly entries: readonly HeldEntry[];
  readonly page?: Partial<AuditPage>;
}

const ASKED = { target: "dst_1", from: FIRST, limit: 50 };

function auditLogOf({ entries, page = {} }: Held) {
  return {
    page: async ({ fits }: AuditQuery): Promise<AuditPage> => ({
      entries: entries.filter(fits),
      ...{ below: null, searchedToMs: null, isWhole: true, freshness: { asOfMs: null, complete: true } },
      ...page,
    }),
  };
}

const none = async () => [];

/** The revisions that are found to be of nobody, where the audit holds these entries, the newest first. */
async function unknownOf(revisions: readonly ConfigRevision[], held: Held) {
  const parts = {
    auditLog: auditLogOf(held),
    revisions: { of: async () => revisions, newest: none },
    nowMs: () => NOW_MS,
  };
  return (await findUnknownChanges(ASKED, parts, 100)).map(({ revision }) => revision);
}

describe("a revision", () => {
  const revisions = [revisionAt(3, 300_000), revisionAt(2, 200_000), revisionAt(1, 100_000)];

  it("that the audit has no entry of was made by nobody who is known", async () => {
    const entries = [entryAt(8, 300_004), entryAt(7, 250_000, "dst_2"), entryAt(6, 100_001)];
    expect(await unknownOf(revisions, { entries })).toEqual([2]);
    expect(await unknownOf(revisions, { entries: [] })).toEqual([3, 2, 1]);
    const removed = { ...revisionAt(4, 400_000), isRemoval: true };
    const revisionsOfIt = { of: async () => [removed], newest: none };
    const parts = { auditLog: auditLogOf({ entries: [] }), revisions: revisionsOfIt, nowMs: () => NOW_MS };
    expect(await findUnknownChanges(ASKED, parts, 100)).toEqual([
      { ...unknownAt(4, 400_000), operation: "remove", changes: removed.changes },
    ]);
  });

  it("is not judged while its entry may still come, nor where the entry may be gone or was not looked for", async () => {
    expect(await unknownOf([revisionAt(9, NOW_MS - 9999)], { entries: [] })).toEqual([]);
    expect(await unknownOf([revisionAt(9, NOW_MS - 10_000)], { entries: [] })).toEqual([9]);
    const entries = [entryAt(8, 260_000, "dst_2"), entryAt(7, 150_000, "dst_2")];
    expect(await unknownOf(revisions, { entries, page: { isWhole: false } })).toEqual([3, 2]);
    expect(await unknownOf(revisions, { entries, page: { below: 7, searchedToMs: 150_000 } })).toEqual([3, 2]);
  });

  it("is accounted for by the entry that is nearest to it, and each entry accounts for one", () => {
    const [byHand, asked] = [revisionAt(1, 99_000), revisionAt(2, 100_000)];
    expect(withoutEntry([asked, byHand], [entryAt(5, 100_002)])).toEqual([byHand]);
    const later = revisionAt(3, 101_000);
    expect(withoutEntry([later, asked], [entryAt(5, 100_002)])).toEqual([later]);
    expect(withoutEntry([asked, byHand], [entryAt(5, 100_002), entryAt(6, 100_500)])).toEqual([]);
    expect(withoutEntry([asked], [entryAt(5, 110_001)])).toEqual([asked]);
  });

  it("is accounted for by the entry that names it and by no other, however near", () => {
    const [byHand, asked] = [revisionAt(1, 100_000), revisionAt(2, 99_000)];
    const naming = { ...entryAt(5, 100_000), revision: 2 };
    expect(withoutEntry([asked, byHand], [naming])).toEqual([byHand]);
    // An entry whose record never came accounts for none.
    expect(withoutEntry([byHand], [naming])).toEqual([byHand]);
    // An entry from before accounts for a revision that no entry names.
    expect(withoutEntry([asked, byHand], [naming, entryAt(6, 98_999)])).toEqual([]);
  });
});

describe("changes without an entry, where nobody says of what", () => {
  const asked = { from: FIRST, limit: 50 };
  const configOf = (all: Readonly<Record<string, readonly ConfigRevision[]>>): ConfigRevisions => ({
    of: async (id) => all[id] ?? [],
    newest: async (untilMs, limit) =>
      Object.entries(all)
        .flatMap(([target, revisions]) => revisions.map(({ revision, atMs }) => ({ target, revision, atMs })))
        .filter(({ atMs }) => atMs <= untilMs)
        .sort(unknownOrder)
        .slice(0, limit),
  });
  const find = async (all: Readonly<Record<string, readonly ConfigRevision[]>>, held: Held, differing = {}) => {
    const parts = { auditLog: auditLogOf(held), revisions: configOf(all), nowMs: () => NOW_MS };
    const found = await findUnknownChanges({ ...asked, ...differing }, parts, 100);
    return found.map(({ target, revision }) => [target, revision]);
  };
  const all = {
    dst_1: [revisionAt(3, 300_000), revisionAt(1, 100_000)],
    dst_2: [revisionAt(2, 250_000)],
    src_1: [revisionAt(4, 90_000)],
  };

  it("are found of everything, newest first", async () => {
    const entries = [{ ...entryAt(8, 100_004), revision: 1 }, entryAt(7, 250_003, "dst_2")];
    expect(await find(all, { entries })).toEqual([
      ["dst_1", 3],
      ["src_1", 4],
    ]);
    expect(await find(all, { entries: [] })).toEqual([
      ["dst_1", 3],
      ["dst_2", 2],
      ["dst_1", 1],
      ["src_1", 4],
    ]);
  });

  it("are found from about where a page begins, and not where entries were not looked for", async () => {
    const from = { ...FIRST, untilMs: 100_000 - 10 * 60_000 };
    expect(await find(all, { entries: [] }, { from })).toEqual([
      ["dst_1", 3],
      ["dst_1", 1],
      ["src_1", 4],
    ]);
    const entries = [entryAt(8, 200_000, "dst_9")];
    const page = { isWhole: false };
    expect(await find(all, { entries, page })).toEqual([
      ["dst_1", 3],
      ["dst_2", 2],
    ]);
  });

  it("are no record that tables ignored, which only those before it tell", async () => {
    const config = { ...configOf(all), of: async () => [] };
    const parts = { auditLog: auditLogOf({ entries: [] }), revisions: config, nowMs: () => NOW_MS };
    expect(await findUnknownChanges(asked, parts, 100)).toEqual([]);
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
          // Two at each moment.
          const changes = unknown
            .toSorted((a, b) => b - a)
            .flatMap((at) => ["dst_1", "dst_2"].map((target) => unknownAt(at, at * 10 + 5, target)));
          const shown: (HeldEntry | UnknownChange)[] = [];
          for (let from: AuditPlace | null = FIRST; from !== null; ) {
            const { below }: AuditPlace = from;
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
