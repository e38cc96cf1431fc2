import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Projection } from "./projection.ts";
import type { ProjectionEntry, ProjectionFilter } from "./projection-entry.ts";
import { newestFirst, type ProjectionCursor } from "./projection-entry.ts";

const KINDS = ["delivered", "retryable", "permanent"];
const NOW_MS = 1_000_000;

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(":memory:");
});
afterEach(() => database.close());

function createProjection(bounds: { maxEntries?: number; keepMs?: number } = {}): Projection {
  database.exec("DROP TABLE IF EXISTS things");
  return new Projection(database, {
    name: "things",
    kinds: KINDS,
    nowMs: () => NOW_MS,
    maxEntries: 1000,
    keepMs: NOW_MS,
    ...bounds,
  });
}

const entry = fc.record({
  timeMs: fc.integer({ min: 1, max: 20 }),
  partition: fc.integer({ min: 0, max: 2 }),
  offset: fc.integer({ min: 0, max: 9 }),
  place: fc.integer({ min: 0, max: 2 }),
  destinationId: fc.constantFrom("a", "b", "c"),
  kind: fc.constantFrom(...KINDS),
  messageId: fc.constantFrom("m", "n"),
  detail: fc.constant("{}"),
  users: fc.constantFrom("", "\u0000\u00ff", "1234567890123456"),
});
const entries = fc.uniqueArray(entry, { selector: nameOf, maxLength: 60 });
const filter = fc.record(
  {
    destinationId: fc.constantFrom("a", "b", "none"),
    kind: fc.constantFrom(...KINDS),
    messageId: fc.constantFrom("m", "none"),
    sinceMs: fc.integer({ min: 0, max: 21 }),
    untilMs: fc.integer({ min: 0, max: 21 }),
  },
  { requiredKeys: [] },
);

function nameOf({ timeMs, partition, offset, place }: ProjectionEntry): string {
  return [timeMs, partition, offset, place].join();
}

function fits(wanted: ProjectionFilter, each: ProjectionEntry): boolean {
  const { destinationId, kind, messageId, sinceMs = 0, untilMs = 100 } = wanted;
  if (each.timeMs < sinceMs || each.timeMs >= untilMs) return false;
  if ((destinationId ?? each.destinationId) !== each.destinationId) return false;
  return (kind ?? each.kind) === each.kind && (messageId ?? each.messageId) === each.messageId;
}

/** A database that notes the plan of each entry search that it prepares. */
function explained(database: DatabaseSync): { readonly plans: string[]; readonly explaining: DatabaseSync } {
  const plans: string[] = [];
  const explaining = new Proxy(database, {
    get: (target, name) => {
      if (name !== "prepare") return Reflect.get(target, name).bind?.(target);
      return (sql: string) => {
        if (/^\s*SELECT \*/.test(sql)) {
          const rows = target.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
          plans.push(...rows.map((row) => String(row["detail"])));
        }
        return target.prepare(sql);
      };
    },
  });
  return { plans, explaining };
}

describe("a projection", () => {
  it("answers every filter as sorting and filtering all of it would, page by page (JN1, JN2)", () => {
    fc.assert(
      fc.property(entries, filter, fc.integer({ min: 1, max: 7 }), (all, wanted, limit) => {
        const projection = createProjection();
        projection.add(all);
        projection.add(all.slice(0, 5));
        const seen: ProjectionEntry[] = [];
        for (;;) {
          const page = projection.newest({ ...wanted, limit, after: seen.at(-1) });
          seen.push(...page);
          // A list that has an entry twice may go on for ever.
          expect(seen.length).toBeLessThanOrEqual(all.length);
          if (page.length < limit) break;
        }
        expect(seen).toEqual(all.filter((each) => fits(wanted, each)).sort(newestFirst));
        expect(projection.size).toBe(all.length);
      }),
    );
  });

  it("finds by texts what going through all of it would, and says how far it looked", () => {
    const withTexts = entries.chain((all) =>
      fc
        .array(fc.subarray(["red", "green", "blue"]), { minLength: all.length, maxLength: all.length })
        .map((details) => all.map((each, index) => ({ ...each, detail: JSON.stringify(details[index]) }))),
    );
    const asked = fc.record({
      texts: fc.subarray(['"red"', '"green"']),
      limit: fc.integer({ min: 1, max: 5 }),
      lookThrough: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(withTexts, filter, asked, (all, wanted, query) => {
        const projection = createProjection();
        projection.add(all);
        const indexed = all.filter((each) => fits(wanted, each)).sort(newestFirst);
        const seen: ProjectionEntry[] = [];
        let after: ProjectionCursor | undefined;
        for (;;) {
          const { entries: found, end } = projection.search({ ...wanted, ...query, after });
          expect(found.length).toBeLessThanOrEqual(query.limit);
          seen.push(...found);
          expect(seen.length).toBeLessThanOrEqual(all.length);
          const rest = indexed.filter((each) => after === undefined || newestFirst(after, each) < 0);
          const looked = rest.filter((each) => end === null || newestFirst(each, end) <= 0);
          expect(looked.length).toBeLessThanOrEqual(query.lookThrough * KINDS.length);
          if (end === null) break;
          // It comes on with each question.
          expect(looked.length).toBeGreaterThan(0);
          if (found.length < query.limit && wanted.destinationId === undefined)
            expect(looked).toHaveLength(query.lookThrough);
          after = end;
        }
        expect(seen).toEqual(indexed.filter(({ detail }) => query.texts.every((text) => detail.includes(text))));
      }),
    );
  });

  it("counts by destination and kind what the filter fits, page by page", () => {
    fc.assert(
      fc.property(entries, filter, (held, { messageId: _, ...wanted }) => {
        const projection = createProjection();
        projection.add(held);
        const expected = new Map<string, number>();
        for (const each of held.filter((one) => fits(wanted, one))) {
          const key = `${each.destinationId} ${each.kind}`;
          expected.set(key, (expected.get(key) ?? 0) + 1);
        }
        const first = projection.counts({ ...wanted, limit: 2 });
        const rest = first.length < 2 ? [] : projection.counts({ ...wanted, limit: 100, after: first.at(-1) });
        const counted = [...first, ...rest].map(({ destinationId, kind, count }) => [
          `${destinationId} ${kind}`,
          count,
        ]);
        expect(counted).toEqual([...expected].sort(([a], [b]) => (a < b ? -1 : 1)));
      }),
    );
  });

  it("holds the newest entries that its bounds allow, in whatever order they came (JN3)", () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 1, max: 10 }), fc.integer({ min: 0, max: 20 }), (all, maxEntries, age) => {
        const projection = createProjection({ maxEntries, keepMs: NOW_MS - age });
        for (const each of all) projection.add([each]);
        const kept = all.filter(({ timeMs }) => timeMs >= age).sort(newestFirst);
        expect(projection.newest({ limit: 100 })).toEqual(kept.slice(0, maxEntries));
      }),
    );
  });

  it("tells what became of messages, by destination and kind, as going through all of it would", () => {
    const asked = fc.subarray(["m", "n", "none"]);
    fc.assert(
      fc.property(entries, asked, (all, messageIds) => {
        const projection = createProjection();
        projection.add(all);
        const expected = new Map<string, object>();
        for (const { messageId, destinationId, kind } of all.filter((each) => messageIds.includes(each.messageId))) {
          const same = all.filter(
            (each) => each.messageId === messageId && each.destinationId === destinationId && each.kind === kind,
          );
          const times = same.map(({ timeMs }) => timeMs);
          const [firstMs, newestMs] = [Math.min(...times), Math.max(...times)];
          const outcome = { messageId, destinationId, kind, entries: same.length, firstMs, newestMs };
          expected.set(`${messageId} ${destinationId} ${kind}`, outcome);
        }
        const found = projection.outcomes(messageIds);
        expect(found).toHaveLength(expected.size);
        expect(found).toEqual(expect.arrayContaining([...expected.values()]));
      }),
    );
  });

  it("shows nothing that became too old since it was added, and drops it with the next (JN3)", () => {
    let nowMs = 100;
    const projection = new Projection(database, {
      name: "things",
      kinds: KINDS,
      nowMs: () => nowMs,
      maxEntries: 10,
      keepMs: 50,
    });
    const at = (timeMs: number): ProjectionEntry => ({
      ...{ timeMs, partition: 0, offset: timeMs, place: 0 },
      ...{ destinationId: "a", kind: "delivered", messageId: "m", detail: "{}", users: "" },
    });
    projection.add([at(60), at(99)]);
    nowMs = 111;
    expect(projection.newest({ limit: 10 }).map(({ timeMs }) => timeMs)).toEqual([99]);
    expect(projection.counts({ limit: 10 })).toEqual([{ destinationId: "a", kind: "delivered", count: 1 }]);
    expect(projection.outcomes(["m"])).toMatchObject([{ entries: 1, firstMs: 99 }]);
    const asked = { texts: [], limit: 10, lookThrough: 10 };
    expect(projection.search(asked).entries.map(({ timeMs }) => timeMs)).toEqual([99]);
    expect(projection.search({ ...asked, anyAge: true }).entries.map(({ timeMs }) => timeMs)).toEqual([99, 60]);
    expect(projection.size).toBe(2);
    projection.add([at(110)]);
    expect(projection.size).toBe(2);
  });

  it.each([
    {},
    { kind: "permanent" },
    { destinationId: "a", kind: "permanent" },
    { messageId: "m" },
    { messageId: "m", destinationId: "a", kind: "permanent" },
  ])("reads a page of %j along an index, without scanning or sorting the table (JN4)", (wanted) => {
    const { plans, explaining } = explained(database);
    const projection = new Projection(explaining, {
      ...{ name: "things", kinds: KINDS, nowMs: () => NOW_MS, maxEntries: 10, keepMs: NOW_MS },
    });
    const after = { timeMs: 5, partition: 0, offset: 0, place: 0 };
    projection.newest({ ...wanted, limit: 5, after });
    expect(plans[0]).toMatch(/^SEARCH /);
    // A message has a few attempts: sorting those is nothing.
    if (!("messageId" in wanted)) expect(plans).toHaveLength(1);
    plans.length = 0;
    projection.search({ ...wanted, limit: 5, after, texts: ["x"], lookThrough: 9 });
    expect(plans[0]).toMatch(/^CO-ROUTINE /);
    expect(plans[1]).toMatch(/^SEARCH /);
    if (!("messageId" in wanted)) expect(plans).toHaveLength(3);
  });

  it("finds the entries of a delivery among those of many destinations by one search of an index (JN4)", () => {
    const { plans, explaining } = explained(database);
    const projection = new Projection(explaining, {
      ...{ name: "things", kinds: KINDS, nowMs: () => NOW_MS, maxEntries: 10, keepMs: NOW_MS },
    });
    const entry = {
      ...{ timeMs: 5, partition: 0, offset: 0, place: 0 },
      ...{ messageId: "m", destinationId: "a", kind: "permanent", detail: "{}", users: "" },
    };
    projection.insert({ ...entry, timeMs: NOW_MS });
    projection.ofDelivery("m", "a");
    projection.since(entry);
    const search = "SEARCH things USING INDEX things_by_message (segment=? AND message_id=? AND destination_id=?";
    expect(plans).toEqual([`${search})`, `${search} AND time>?)`]);
  });
});
