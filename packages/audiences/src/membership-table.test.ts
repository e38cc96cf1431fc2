import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Fence, type HeldMember, holdFence, holdMember } from "@posthaste/core/audience/membership";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { MembershipEntry } from "./membership-entry.ts";
import { MembershipTable, type Page } from "./membership-table.ts";

const tables: MembershipTable[] = [];
const folders: string[] = [];
afterEach(() => {
  for (const table of tables.splice(0)) table.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function openTable(path: string | null = null, identity = "cluster/topic"): MembershipTable {
  const table = new MembershipTable({ path, identity });
  tables.push(table);
  return table;
}

function member(userId: string, valueJson: string, revision = 2, changedAtMs = revision * 100): MembershipEntry {
  return { what: "member", audienceId: "a", kind: "audience", userId, valueJson, revision, changedAtMs };
}

/** Every page, one after the other. */
function pages(next: (after: string | null) => Page) {
  const changes: Page["changes"][number][] = [];
  let [unchanged, after] = [0, null as string | null];
  do {
    const page = next(after);
    changes.push(...page.changes);
    unchanged += page.unchanged;
    after = page.after;
  } while (after !== null);
  return { changes, unchanged };
}

describe("the membership's table", () => {
  const user = fc.constantFrom("u", "v", "w:1");
  const common = { audienceId: fc.constantFrom("a", "b"), revision: fc.integer({ min: 1, max: 5 }) };
  const entry: fc.Arbitrary<MembershipEntry> = fc.oneof(
    fc.record({
      ...{ what: fc.constant("member" as const), ...common, userId: user },
      kind: fc.constantFrom("audience" as const, "computed_trait" as const),
      valueJson: fc.constantFrom("true", "false"),
      changedAtMs: fc.integer({ min: 1, max: 20 }),
    }),
    fc.record({ what: fc.constant("fence" as const), ...common, bornRevision: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ what: fc.constant("removed" as const), ...common, userId: user }),
  );

  it("U1 to U4: holds of each user what the rules say, and counts them", () => {
    const table = openTable();
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 1 }), entry)), (entries) => {
        table.clear();
        const held = new Map<string, HeldMember>();
        const fences = new Map<string, Fence>();
        for (const [partition, taken] of entries) {
          table.take(partition, 1, [taken]);
          const place = `${taken.audienceId} ${partition}`;
          if (taken.what === "fence") {
            const fence = holdFence(taken, fences.get(place));
            fences.set(place, fence);
            for (const [key, value] of held) {
              const isHere = key.startsWith(`${taken.audienceId} `) && value.partition === partition;
              if (isHere && value.revision < fence.bornRevision) held.delete(key);
            }
            continue;
          }
          const key = `${taken.audienceId} ${taken.userId}`;
          const before = held.get(key);
          if (taken.what === "removed") {
            if (before !== undefined && before.revision <= taken.revision) held.delete(key);
            continue;
          }
          const after = holdMember(taken, partition, { held: before, fence: fences.get(place) });
          if (after !== undefined) held.set(key, after);
          // The table keeps a count from here on, so that the test compares the kept count with a new one.
          table.held(taken.audienceId);
        }
        for (const audienceId of ["a", "b"]) {
          const own = [...held].filter(([key]) => key.startsWith(`${audienceId} `));
          for (const userId of ["u", "v", "w:1"]) {
            expect(table.member(audienceId, userId)).toEqual(held.get(`${audienceId} ${userId}`) ?? null);
          }
          const falses = own.filter(([, { valueJson }]) => valueJson === "false").length;
          expect(table.held(audienceId)).toEqual({ users: own.length, falses });
          expect(table.stale().includes(audienceId)).toBe(own.some(([, { isStale }]) => isStale));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("MT4: finds in pages what an upload changes and who is missing in it", () => {
    const ids = fc.uniqueArray(fc.stringMatching(/^[a-c]{1,3}$/));
    fc.assert(
      fc.property(ids, ids, ids, fc.integer({ min: 1, max: 4 }), (members, former, uploaded, limit) => {
        const table = openTable();
        const gone = former.filter((userId) => !members.includes(userId));
        table.take(0, 1, [...members.map((id) => member(id, "true")), ...gone.map((id) => member(id, "false"))]);
        const upload = table.openUpload();
        table.addToUpload(
          upload,
          uploaded.map((userId) => [userId, "true"]),
        );
        const query = { audienceId: "a", kind: "audience" as const, upload, limit };
        const changed = pages((after) => table.changed({ ...query, after }));
        const added = uploaded.filter((userId) => !members.includes(userId));
        expect(changed.changes.map(({ userId }) => userId)).toEqual([...added].sort());
        expect(changed.unchanged).toBe(uploaded.length - added.length);
        for (const { userId, newestMs } of changed.changes) expect(newestMs).toBe(gone.includes(userId) ? 200 : null);
        const missing = pages((after) => table.missing({ ...query, after }));
        expect(missing.changes).toEqual(
          members
            .filter((userId) => !uploaded.includes(userId))
            .sort()
            .map((userId) => ({ userId, valueJson: "false", newestMs: 200 })),
        );
        expect(pages((after) => table.everybody("a", after, limit)).changes).toHaveLength(members.length + gone.length);
      }),
      { numRuns: 50 },
    );
  });

  it("names who is to be written again, as they are held", () => {
    const table = openTable();
    const fence: MembershipEntry = { what: "fence", audienceId: "a", revision: 4, bornRevision: 1 };
    table.take(0, 5, [member("u", "true", 3), member("v", "true", 3), fence, member("u", "false", 2, 900)]);
    expect(table.stale()).toEqual(["a"]);
    expect(table.staleMembers("a", null, 10).changes).toEqual([{ userId: "u", valueJson: "true", newestMs: 900 }]);
  });

  it("MT1: goes on from its file where it was, and drops what an upload left there", () => {
    const folder = mkdtempSync(join(tmpdir(), "membership-"));
    folders.push(folder);
    const path = join(folder, "audiences.sqlite");
    const first = new MembershipTable({ path, identity: "one" });
    first.take(3, 7, [member("u", "true")]);
    first.openUpload();
    first.commit();
    first.close();
    const again = new MembershipTable({ path, identity: "one" });
    expect(again.start).toEqual({ trouble: null, positions: [{ partition: 3, next: 7 }] });
    expect(again.member("a", "u")).toMatchObject({ valueJson: "true", partition: 3 });
    expect(again.openUpload()).toBe(1);
    again.close();
    const other = openTable(path, "another");
    expect(other.start.positions).toEqual([]);
    expect(other.start.trouble).toMatch(/is read anew/);
    expect(other.member("a", "u")).toBeNull();
  });
});
